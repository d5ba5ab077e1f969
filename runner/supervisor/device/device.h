/*
 * device.h
 *		The device that is measured on: which it is, its locks, and what of it a result tells.
 */
#ifndef CUDAL1_DEVICE_H
#define CUDAL1_DEVICE_H

#include "supervisor/types.h"

/* before anything is started: which cores the device and all else use */
extern bool device_prepare(Measure *m);
extern bool device_take(Measure *m);	/* waits for the device's locks */
extern void device_release(Measure *m);
extern void device_list(const Options *options);
extern void device_versions(Measure *m);
extern void device_environment(Measure *m);

#endif							/* CUDAL1_DEVICE_H */
