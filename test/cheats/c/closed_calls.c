/* kind: 25 escape; task: vector; outcome: successful, unstable, unverified
 * Calls that would reach other processes, work in the kernel after the return, or look into it. Its answers are right only where
 * each is refused as not permitted or not there, whatever its arguments. */
#define _GNU_SOURCE
#include "reference.c"
#include "shared/attempt.h"
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct { const char *name; long number; } closed[] = {
	{"io_uring_setup", SYS_io_uring_setup}, {"io_uring_enter", SYS_io_uring_enter}, {"io_uring_register", SYS_io_uring_register},
	{"userfaultfd", SYS_userfaultfd}, {"bpf", SYS_bpf}, {"perf_event_open", SYS_perf_event_open},
	{"add_key", SYS_add_key}, {"request_key", SYS_request_key}, {"keyctl", SYS_keyctl},
	{"ptrace", SYS_ptrace}, {"process_vm_readv", SYS_process_vm_readv}, {"process_vm_writev", SYS_process_vm_writev},
	{"process_madvise", SYS_process_madvise}, {"kcmp", SYS_kcmp}, {"pidfd_getfd", SYS_pidfd_getfd},
	{"mount", SYS_mount}, {"umount2", SYS_umount2}, {"pivot_root", SYS_pivot_root}, {"chroot", SYS_chroot}, {"open_tree", SYS_open_tree},
	{"move_mount", SYS_move_mount}, {"fsopen", SYS_fsopen}, {"mount_setattr", SYS_mount_setattr},
	{"setns", SYS_setns}, {"unshare", SYS_unshare}, {"clone3", SYS_clone3},
	{"open_by_handle_at", SYS_open_by_handle_at}, {"name_to_handle_at", SYS_name_to_handle_at},
	{"init_module", SYS_init_module}, {"finit_module", SYS_finit_module}, {"kexec_load", SYS_kexec_load}, {"reboot", SYS_reboot},
	{"iopl", SYS_iopl}, {"ioperm", SYS_ioperm}, {"modify_ldt", SYS_modify_ldt}, {"syslog", SYS_syslog},
	{"fanotify_init", SYS_fanotify_init}, {"settimeofday", SYS_settimeofday}, {"clock_settime", SYS_clock_settime},
	{"move_pages", SYS_move_pages}, {"migrate_pages", SYS_migrate_pages}, {"sched_setaffinity", SYS_sched_setaffinity},
	{"sched_setscheduler", SYS_sched_setscheduler}, {"setpriority", SYS_setpriority}, {"timer_create", SYS_timer_create},
	{"timerfd_create", SYS_timerfd_create}, {"inotify_init", SYS_inotify_init}, {"fallocate", SYS_fallocate},
};

static int attempt(void)
{
	int open = 0;

	for (unsigned i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		if (syscall(closed[i].number, 0, 0, 0, 0, 0, 0) != -1 || (errno != EPERM && errno != ENOSYS))
		{
			printf("%s is open\n", closed[i].name);
			open++;
		}
	return open;
}
