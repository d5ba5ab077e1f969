"""The executor of PyTorch code, for references and candidates alike: exec_torch.py CORES DATA_BYTES
LIBDIR cpu|cuda THREADS|build|ahead.

Started by cudal1-measure in a sandbox, it imports PyTorch once and then forks an executor whenever
it is told to (a zygote). An executor loads a task and perhaps a candidate's code, and runs the
model over slots of inputs. It knows neither the time nor what the outputs should be; while it is
not its turn it is stopped. A fork that is told to describe the inputs becomes the generator, which
runs the task's get_inputs alone.

Once candidate code is loaded nothing in its process is trusted: the supervisor reads the outputs
out of the stopped process, or out of the GPU memory that libcudal1pool.so has PyTorch allocate.
"""
import ast
import ctypes
import gc
import hashlib
import mmap
import os
import random
import re
import resource
import socket
import struct
import sys
import tempfile


# where the parts of this program are, which an isolated interpreter does not look for beside it; on
# the path as long as they are imported
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch_common as common  # noqa: E402
import wire  # noqa: E402
MESSAGE = struct.Struct(wire.MESSAGE)
PLACE = struct.Struct("=Q")     # the first member of TENSOR
BUILD_FAILED = 3
PR_SET_DUMPABLE = 4
# stacks of threads and other mappings that are no data
SPARE_BYTES = 1 << 30
PARSED = 1 << 16        # characters, before limits hold
# of a build: processes and threads, and memory of each process
BUILD_PROCESSES = 256
BUILD_DATA_BYTES = 4 << 30
# of the interpreter's allocator: its largest objects, its arenas, and how many an executor keeps
SMALL_BYTES, ARENA_BYTES, SPARE_ARENAS = 448, 1 << 20, 2


class Control:
    """Memory shared with the supervisor, for what does not fit a datagram."""

    def __init__(self, fd):
        self.memory = mmap.mmap(fd, 0)

    def address(self, at):
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory, at))

    def words(self, at, n, kind):
        return struct.unpack_from(f"={n}{kind}", self.memory, at)

    def text(self, message):
        data = message.encode("utf-8", "replace")[:wire.TEXT_BYTES - 1] + b"\0"
        self.memory[wire.TEXT_AT:wire.TEXT_AT + len(data)] = data


class Executor:
    def __init__(self, sock, control_fd, memory_fd, source_fd, guard, data_bytes, gpu=None):
        self.sock = socket.socket(fileno=sock)
        self.control = Control(control_fd)
        self.table = self.control.address(wire.TABLE_AT)
        self.memory_fd = memory_fd
        self.guard = guard
        self.gpu = gpu
        self.data_bytes = data_bytes
        self.task_source, self.code, self.built = common.read_sources(source_fd)
        self.outputs = []
        self.inputs = []
        # addresses of results count from the base, and are below the bound: a GPU's pool
        self.base, self.bound = 0, (1 << 64) - 1
        # where the inputs lie; which results of the last run were copied
        self.given = range(0)
        self.copies = []
        # results that were found to lie in what is kept
        self.noted = set()
        self.model = None
        # what its runs begin with, where they change it
        self.state = None
        # of generators of random numbers
        self.seeds = []
        self.probed = False
        # the generator, in a fork that is told to be one
        self.generator = None

    def serve(self):
        self.sock.send(MESSAGE.pack(0, wire.HELLO, wire.OK, 0, 0, 0, 0))
        actions = {
            wire.LOAD: self.load, wire.RUN: self.run, wire.DESCRIBE: self.describe,
            wire.GENERATE: lambda count, *_: self.generator.generate(count),
            wire.ARENA: lambda *_: self.generator.change_memory(self.handed[0]),
            wire.STATE: lambda *_: self.control.text(self.state.names()),
            wire.PARSE: self.parse, wire.OPERATIONS: self.count_operations,
        }
        while True:
            data, self.handed, _, _ = socket.recv_fds(self.sock, MESSAGE.size, 1)
            if len(data) != MESSAGE.size:
                os._exit(0)
            nonce, op, _, count, flags, seed, _ = MESSAGE.unpack(data)
            status, value = wire.OK, 0
            try:
                value = actions[op](count, flags, seed) or 0
            except common.Unsupported as error:
                status = wire.UNSUPPORTED
                self.control.text(str(error))
            except BaseException as error:
                status = wire.FAULTED if common.is_fault(error) else wire.FAILED
                self.control.text(common.explain(error))
            self.sock.send(MESSAGE.pack(nonce, op, status, 0, 0, 0, value))

    def parse(self, count, flags, seed):
        """What is no Python costs no time of a device. No code is made of the tree, which takes
        little memory where there is little text.
        """
        if len(self.code) > PARSED:
            return
        try:
            tree = compile(self.code, "candidate.py", "exec", ast.PyCF_ONLY_AST)
            dump = ast.dump(tree).encode("utf-8", "surrogatepass")
            self.control.text(hashlib.sha256(dump).hexdigest())
        except SyntaxError:
            raise
        except Exception:
            # as it will be found where limits hold
            return

    def describe(self, slots, flags, seed):
        self.generator = torch_generator.Generator(self)
        return self.generator.describe()

    def map_inputs(self, slots):
        (slot_bytes,) = self.control.words(wire.SLOT_BYTES_AT, 1, "Q")
        if self.gpu:
            (nbytes,) = self.control.words(wire.GPU_BYTES_AT, 1, "Q")
            self.given = range(self.gpu.inputs, self.gpu.inputs + nbytes)
            view = self.gpu.view
        else:
            nbytes = os.fstat(self.memory_fd).st_size
            if nbytes:
                address = self.guard.cudal1_guard_map(self.memory_fd, nbytes)
                memory = (ctypes.c_char * nbytes).from_address(address)
                self.given = range(address, address + nbytes)

            def view(dtype, count, offset):
                return torch.frombuffer(memory, dtype=dtype, count=count, offset=offset)
        os.close(self.memory_fd)
        (n,) = self.control.words(wire.TENSORS_AT, 1, "I")
        entries = [
            TENSOR.unpack_from(self.control.memory, wire.TABLE_AT + i * TENSOR.size)
            for i in range(n)
        ]
        self.inputs = calls.map_arguments(
            entries, self.control.words(wire.TRAITS_AT, len(entries), "I"), slots, slot_bytes,
            view, "cuda" if self.gpu else "cpu",
        )

    def load(self, slots, flags, seed):
        # forks of one parent share its address layout; a random offset makes what placement does to
        # time independent between pairs
        self.padding = torch.empty(
            64 * int.from_bytes(os.urandom(2), "little") + 64, dtype=torch.uint8
        )
        for _ in range(os.urandom(1)[0]):
            # jemalloc draws where in its first page a large array begins
            torch.empty(1 << 16, dtype=torch.uint8)
        self.kept = [[] for _ in range(int.from_bytes(os.urandom(2), "little") % 1024)]
        for _ in range(os.urandom(1)[0]):
            # each type looked into takes a number; which attributes share a place in the
            # interpreter's cache follows from that
            getattr(type("Spare", (), {}), "name", None)
        # one object holds each arena, which goes when its last object does, as a run's numbers do
        arenas = [bytes(SMALL_BYTES) for _ in range(SPARE_ARENAS * ARENA_BYTES // SMALL_BYTES)]
        self.held = arenas[::ARENA_BYTES // SMALL_BYTES]
        del arenas
        torch.set_grad_enabled(False)
        if self.gpu:
            if flags & wire.WAITED:
                os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
            self.gpu.open(
                self.memory_fd, *self.control.words(wire.GPU_BYTES_AT, 2, "Q"),
                self.control.address(wire.POOL_USED_AT),
            )
            self.base, self.bound = self.gpu.base, self.gpu.bytes
        self.map_inputs(slots)
        # the CUDA driver reserves address space by the terabyte
        space = 0 if self.gpu else self.data_bytes + SPARE_BYTES
        if (self.guard.cudal1_guard_memory(self.data_bytes, space) != 0
                or self.guard.cudal1_guard_enter(self.gpu is not None, self.guard.threads) != 0):
            raise common.Unsupported("the system call filter could not be set")
        common.refuse_processes()
        # forked siblings share the interpreter's state of random numbers
        seed_all(seed)
        task = common.make_module("task", self.task_source)
        for name in ("Model", "get_inputs"):
            if not hasattr(task, name):
                raise common.Unsupported(f"it defines no {name}")
        arguments, keywords = common.init_arguments(task)
        self.moving = torch_probes.Moving(flags & wire.MOVED)
        if not self.code:
            model = self.construct(task.Model, arguments, keywords, seed)
        else:
            state = {}
            if flags & wire.BY_NAME:
                state = self.reference_weights(task, arguments, keywords, seed)
            seed_all(seed)
            code = common.make_module("candidate", self.code)
            if not hasattr(code, "ModelNew"):
                raise common.Unsupported("it defines no class ModelNew")
            model = self.construct(code.ModelNew, arguments, keywords, seed)
            if state and isinstance(model, torch.nn.Module):
                results.copy_weights(state, model)
        self.model = model
        self.lazy_seed = seed if has_lazy_weights(model) else None
        if flags & wire.RESTORED:
            self.state = torch_state.State(model, self.code != "")
        self.seeds.append(torch.default_generator.manual_seed)
        if self.gpu:
            device = torch.cuda.current_device()
            self.seeds.append(torch.cuda.default_generators[device].manual_seed)
        self.note_kept()
        gc.collect()
        if self.gpu:
            torch.cuda.synchronize()
        if not self.code:
            return self.moving.moved
        return len(model.state_dict()) if isinstance(model, torch.nn.Module) else 0

    def construct(self, model, arguments, keywords, seed):
        """A model from the weights' seed. Both sides' constructors run on the CPU, as KernelBench
        has it, so a candidate that draws its weights in the reference's order has the same ones.
        """
        seed_all(seed)
        try:
            with self.moving:
                built = model(*arguments, **keywords)
        except (MemoryError, RuntimeError):
            if not self.gpu:
                raise
            # weights for which the host's memory is too small
            seed_all(seed)
            with self.moving, torch.device("cuda"):
                built = model(*arguments, **keywords)
        self.moving.finish(built)
        return built.to("cuda") if self.gpu and isinstance(built, torch.nn.Module) else built

    def reference_weights(self, task, arguments, keywords, seed):
        """The weights of the task's model, by name, lazy ones as its first call gives them."""
        model = self.construct(task.Model, arguments, keywords, seed)
        state = model.state_dict()
        if not has_lazy_weights(model):
            return state
        # that call changes buffers, too
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and not results.is_lazy(value):
                state[name] = value.clone()
        draw_lazy_weights(model, seed, common.inputs_on("cuda" if self.gpu else "cpu", task))
        return state

    def rng_states(self):
        return [torch.get_rng_state()] + ([torch.cuda.get_rng_state()] if self.gpu else [])

    def run(self, count, flags, seed):
        if self.lazy_seed is not None:
            first = 0 if flags & wire.GATED else count
            draw_lazy_weights(self.model, self.lazy_seed, self.inputs[first])
            self.lazy_seed = None
        # the first run of a reference tells whether the task draws random numbers
        probing = not self.code and not self.probed
        before = self.rng_states() if probing else None
        model = self.state.restored(self.model) if self.state else self.model
        if flags & wire.WAITED:
            model = results.waited(model, self.gpu)
        dtypes = ()
        # other types would be compiled for half a minute
        if flags & wire.WIDER and self.outputs and "TORCHINDUCTOR_CACHE_DIR" not in os.environ:
            dtypes = [x.dtype for x in self.outputs[0]]
        self.outputs.clear()
        self.copies.clear()
        value = 0
        if flags & wire.GATED:
            self.gated_runs(range(count), flags, model)
        else:
            if self.gpu:
                self.gpu.library.cudal1_pool_stain()
            value = self.single_run(count, flags, model, dtypes)
        if self.gpu:
            # the whole device, whatever streams were used
            torch.cuda.synchronize()
        if probing:
            self.probed = True
            if not all(torch.equal(x, y) for x, y in zip(before, self.rng_states())):
                value |= wire.RANDOM
        return value

    def count_operations(self, slot, flags, seed):
        # older versions of PyTorch have none
        from torch.utils.flop_counter import FlopCounterMode
        with FlopCounterMode(display=False) as counter:
            self.model(*self.inputs[slot])
        return int(counter.get_total_flops())

    def single_run(self, slot, flags, model, dtypes):
        """A run without a clock; dtypes: of its results, if it is to compute in single precision.
        The answer is the half precision that it then met, or 0.
        """
        found, half = (), 0
        seeded = flags & wire.SEED_RUNS
        if dtypes:
            if seeded:
                self.seed(0)
            found, half = results.in_single(self.model, model, self.inputs[slot], dtypes)
        if not found:
            if seeded:
                self.seed(0)
            found = flatten(model(*self.inputs[slot]))
        self.outputs[:] = (found,)
        self.write_table(self.outputs[0])
        return half

    def seed(self, run):
        """As torch.manual_seed does. That asks each kind of device that PyTorch knows, which takes
        longer than many a module, within the clock.
        """
        value, = self.control.words(wire.SEEDS_AT + 8 * run, 1, "Q")
        for set_seed in self.seeds:
            set_seed(value & 0x7FFFFFFFFFFFFFFF)

    def gated_runs(self, slots, flags, model):
        """The runs of a window: each ends at the next gate, and its results are listed by then.
        Code that takes this method's place can leave out all but the model, so that is little.
        """
        control, inputs, guard = self.control, self.inputs, self.guard
        wait, list_at = guard.cudal1_gate_wait, guard.cudal1_guard_list
        # of the whole device, without what torch.cuda.synchronize asks first
        synchronize = torch._C._cuda_synchronize if self.gpu else None
        seeded = flags & wire.SEED_RUNS
        # of a result that is one tensor, listed by its place alone: what it is like, and places
        # that are no memory of others
        lone, shape, dtype, stride, places = None, (), None, (), set()
        self.layouts = None
        guard.cudal1_guard_place(control.address(0), self.base, self.bound)
        guard.cudal1_gate_begin(control.address(0))
        gate = 0
        while gate := wait(gate):
            run = gate - 1
            if seeded:
                self.seed(run)
            # numbers among the arguments come with the gate
            result = model(*inputs[run])
            if synchronize:
                synchronize()
            if (type(result) is lone and result.data_ptr() in places
                    and result.stride() == stride and result.shape == shape
                    and result.dtype is dtype and list_at(run, result.data_ptr())):
                # a caller has a result while the next one is made
                self.outputs[:] = ((result,),)
                continue
            single = type(result) is torch.Tensor and not result.is_neg()
            result = flatten(result)
            if self.list_results(result, run, len(slots)) and single:
                lone, (shape, dtype, stride) = torch.Tensor, self.layouts[0]
                places.add(result[0].data_ptr())
            self.outputs[:] = (result,)

    def list_results(self, result, run, runs):
        """Lists where a run's results lie; of the first run for all, so that others which are like
        it differ in addresses alone. True for such results, and false for copies of results in
        memory that isn't theirs alone. Where the first run has these, no other is like it.
        """
        n = len(result)
        at = entry_at(run * n)
        likes = [layout(tensor) for tensor in result]
        alike = self.layouts == likes
        for i, tensor in enumerate(result if alike else ()):
            address = tensor.data_ptr() - self.base
            alike = alike and 0 <= address < self.bound
            if alike:
                PLACE.pack_into(self.control.memory, at + i * TENSOR.size, address)
        if alike and self.find_shared(run, n, 0) >= n:
            return True
        self.copies.clear()
        self.write_table(result, run)
        if self.copies and self.gpu:
            torch._C._cuda_synchronize()
        if run > 0:
            return False
        entries = self.control.memory[entry_at(0):entry_at(n)]
        self.control.memory[entry_at(0):entry_at(runs * n)] = entries * runs
        self.layouts = None if self.copies else likes
        return not self.copies

    def find_shared(self, run, n, first):
        """The first of a run's results, from `first` on, that is no memory of its own; or n."""
        table = self.table + run * n * TENSOR.size
        return self.guard.cudal1_guard_find_shared(table, first, n, not self.gpu)

    def write_table(self, result, run=0):
        """Lists where a run's results lie."""
        n = len(result)
        if n > wire.MAX_TENSORS:
            raise common.Unsupported(
                f"a run returns {n} tensors; up to {wire.MAX_TENSORS} are supported"
            )
        if not self.code and not any(tensor.numel() for tensor in result):
            raise common.Unsupported("a run returns no elements")
        for i, tensor in enumerate(result):
            calls.check_tensor(tensor, "a run returns")
            if self.gpu and not tensor.is_cuda:
                raise common.Unsupported("a run returns a tensor on the CPU; "
                                         "outputs belong on the GPU")
            if not 0 <= tensor.data_ptr() - self.base < self.bound and tensor.numel() > 0:
                if tensor.data_ptr() not in self.given:
                    raise common.Unsupported("a run returns a tensor that lies elsewhere than "
                                             "in memory of PyTorch's allocator for the GPU")
                tensor = self.copy(tensor)
            self.write_entry(run * n + i, tensor)
        struct.pack_into("=I", self.control.memory, wire.TENSORS_AT, n)
        self.copy_shared(result, run)

    def write_entry(self, number, tensor):
        address = max(tensor.data_ptr() - self.base, 0)
        TENSOR.pack_into(self.control.memory, entry_at(number), *calls.entry_of(tensor, address))

    def copy_shared(self, result, run):
        """A caller may write to what it gets: an output is memory, and memory of its own."""
        n = len(result)
        at = self.find_shared(run, n, 0)
        if at < n and result[at].data_ptr() not in self.noted:
            # weights may have moved, and outputs lie where they were
            self.noted.add(result[at].data_ptr())
            self.note_kept()
            at = self.find_shared(run, n, at)
        while at < n:
            self.write_entry(run * n + at, self.copy(result[at]))
            at = self.find_shared(run, n, at + 1)

    def copy(self, tensor):
        self.copies.append(tensor.clone())
        return self.copies[-1]

    def note_kept(self):
        """Tells the guard where what outlives a run lies: inputs, and the model's own tensors."""
        kept = [(self.given.start, self.given.stop)] if self.given and not self.gpu else []
        own = ()
        if isinstance(self.model, torch.nn.Module):
            own = (*self.model.parameters(), *self.model.buffers())
        for value in own:
            if not results.is_lazy(value) and value.layout == torch.strided and value.numel() > 0:
                first = value.data_ptr() - self.base
                kept.append((first, first + calls.span(value) * value.element_size()))
        bounds = [bound for pair in kept if pair[0] > 0 for bound in pair]
        self.kept_at = (ctypes.c_uint64 * len(bounds))(*bounds)
        self.guard.cudal1_guard_keep(self.kept_at, len(bounds) // 2)


def layout(tensor):
    return tensor.shape, tensor.dtype, tensor.stride()


def entry_at(number):
    """Where an entry of the table begins in control memory."""
    return wire.TABLE_AT + number * TENSOR.size


def has_lazy_weights(model):
    return isinstance(model, torch.nn.Module) and any(map(results.is_lazy, model.parameters()))


def draw_lazy_weights(model, seed, inputs):
    """A call gives lazy modules their weights, from the seed of all others."""
    inputs = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    torch.manual_seed(seed)
    model(*inputs)


def seed_all(seed):
    """Python's and NumPy's generators, too, from which constructors draw permutations."""
    torch.manual_seed(seed)
    random.seed(seed)
    if calls.numpy:
        calls.numpy.random.seed(seed % (1 << 32))


def become_executor(zygote, fds, guard, data_bytes, pool, compiling):
    sock, control, log, memory, source, *pool_fd = fds
    zygote.close()
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    gpu = gpus.Gpu(pool, pool_fd[0] if pool_fd else -1) if pool else None
    executor = Executor(sock, control, memory, source, guard, data_bytes, gpu)
    scratch.take_folder(guard, os.environ.pop("CUDAL1_FILES", ""), executor.built)
    if compiling and re.search(r"subprocess|os\.system", executor.code or executor.task_source):
        scratch.skip_commands()
    # no arguments of the executor's own for a parser of code's
    sys.argv[:] = ["candidate.py"]
    executor.serve()


def build(guard, source_fd, device, data_bytes, ahead):
    """Runs one side's code once where it may start compilers, for what it compiles of itself.
    `ahead`: code for a GPU is loaded and called without one, for the extensions that it compiles;
    what fails otherwise fails again with the GPU.
    """
    loads_alone = ahead and device == "cuda"
    if loads_alone:
        torch.cuda.is_available = lambda: True
    elif device == "cuda":
        # The driver's own memory is taken first, as it is not the code's.
        torch.empty(1, device=device)
    # each process gets at least the memory of a compiler
    data_bytes = max(data_bytes, BUILD_DATA_BYTES)
    if guard.cudal1_guard_memory(data_bytes, data_bytes + SPARE_BYTES if device == "cpu" else 0):
        sys.exit("exec_torch: memory can't be limited")
    resource.setrlimit(resource.RLIMIT_NPROC, (BUILD_PROCESSES, BUILD_PROCESSES))
    sys.argv[:] = ["candidate.py"]
    torch.set_grad_enabled(False)
    task_source, code, _ = common.read_sources(source_fd)
    scratch.use_folder(os.getcwd())
    scratch.follow_libraries(os.getcwd(), True)
    try:
        if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
            builds.ask_no_compiler()
        task = common.make_module("task", task_source)
        arguments, keywords = common.init_arguments(task)
        model = (common.make_module("candidate", code).ModelNew if code else task.Model)(
            *arguments, **keywords
        )
        if loads_alone:
            builds.call_without_device(model, task)
            return 0
        inputs = common.inputs_on(device, task)
        if isinstance(model, torch.nn.Module):
            model.to(device)
        for _ in range(2):
            model(*inputs)
        if device == "cuda":
            torch.cuda.synchronize()
    except BaseException as error:
        text, said = f"{type(error).__name__}: {error}", common.explain(error)
        refused = "Error building extension" in text
        # its words alone, without the commands and what else was printed
        os.ftruncate(1, 0)
        if loads_alone and not refused:
            return 0
        if common.lacks_cuda(error):
            said = ("no CUDA compiler here (nvcc, and a GPU that it compiles for), which this code"
                    f" asks for\n{said}")
        elif refused or "CompilationError" in text:
            said = "\n".join(line for line in said.splitlines() if len(line) < 300)
        else:
            print(said, flush=True)
            return 1
        print(said, flush=True)
        return BUILD_FAILED
    return 0


def main():
    cores, data_bytes, libdir = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    guard = common.load_guard(libdir)
    if sys.argv[5] in ("build", "ahead"):
        torch.set_num_threads(cores)
        if sys.argv[4] == "cuda":
            builds.compile_once()
        # the device may not be held yet
        if not os.read(4, 1):
            sys.exit("exec_torch: the build is not wanted any more")
        os.close(4)
        sys.exit(build(guard, 3, sys.argv[4], data_bytes, sys.argv[5] == "ahead"))
    zygote = socket.socket(fileno=3)
    # forks have control memory of their own
    os.dup2(5, wire.FD_FILTER)
    os.closerange(4, 6)
    guard.threads = int(sys.argv[5])
    # preloaded already, so that PyTorch finds its cudaMalloc first; CUDA is left to the forks
    pool = ctypes.CDLL(os.path.join(libdir, "libcudal1pool.so")) if sys.argv[4] == "cuda" else None
    if guard.cudal1_guard_read() != 0:
        sys.exit("exec_torch: no system call filters")
    if pool:
        gpus.open_cudnn()
    # its forks, of both sides, have its user: none may write another's memory
    if os.getpid() == 1 and ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        sys.exit("exec_torch: memory can't be closed to other processes")
    torch.set_num_threads(cores)
    compiling = "TORCH_EXTENSIONS_DIR" in os.environ
    if compiling:
        builds.use_built()
    if "TORCHINDUCTOR_CACHE_DIR" in os.environ:
        builds.use_compiled()
    gc.collect()
    gc.freeze()
    zygote.send(MESSAGE.pack(0, wire.HELLO, wire.OK, 0, 0, 0, 0))
    children = {}
    while True:
        data, fds, _, _ = socket.recv_fds(zygote, MESSAGE.size, 8)
        if len(data) != MESSAGE.size:
            os._exit(0)
        nonce, op, *_ = MESSAGE.unpack(data)
        if op == wire.ENDED:
            os.waitpid(children.pop(nonce), os.WNOHANG)
            continue
        children[nonce] = os.fork()
        if children[nonce] == 0:
            try:
                become_executor(zygote, fds, guard, data_bytes, pool, compiling)
            finally:
                os._exit(121)
        for handed in fds:
            os.close(handed)


if __name__ == "__main__":
    # Libraries that PyTorch imports where they are installed (dill) ask for the folder of temporary
    # files, and nothing can be written here.
    tempfile.tempdir = "/"
    import torch
    tempfile.tempdir = None
    import torch_arguments as calls
    import torch_builds as builds
    import torch_generator
    import torch_gpu as gpus
    import torch_probes
    import torch_results as results
    import torch_scratch as scratch
    import torch_state
    from torch_arguments import TENSOR
    from torch_results import flatten
    sys.path.remove(HERE)
    main()
