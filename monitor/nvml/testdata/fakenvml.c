// A stand-in for the driver's library, for tests: two GPUs of an older driver, which lacks
// some functions, the second with MIG on. The variable FAKE_NVML chooses what goes wrong:
// "lost" loses the GPUs, "broken" makes the library fail to start.
#include <stdlib.h>
#include <string.h>

typedef int ret_t;
enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9, LOST = 15 };

struct dev { int index; int part; };
static struct dev devs[2] = {{0, 0}, {1, 0}};
static struct dev parts[1] = {{1, 1}};

static int mode(const char *name) {
    const char *m = getenv("FAKE_NVML");
    return m && strcmp(m, name) == 0;
}

ret_t nvmlInit_v2(void) { return mode("broken") ? DRIVER_NOT_LOADED : OK; }
ret_t nvmlInit(void) { return nvmlInit_v2(); }
ret_t nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(ret_t r) { return r == LOST ? "GPU is lost" : r == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "some error"; }
ret_t nvmlSystemGetDriverVersion(char *v, unsigned n) { strncpy(v, "450.00", n); return OK; }
ret_t nvmlDeviceGetCount_v2(unsigned *n) { *n = 2; return OK; }
ret_t nvmlDeviceGetHandleByIndex_v2(unsigned i, struct dev **d) { if (i > 1) return INVALID; *d = &devs[i]; return OK; }

static ret_t alive(void) { return mode("lost") ? LOST : OK; }
static ret_t whole(struct dev *d) { return alive() ? alive() : d->part ? UNSUPPORTED : OK; }

ret_t nvmlDeviceGetName(struct dev *d, char *s, unsigned n) { strncpy(s, d->part ? "Fake MIG 1g" : "Fake A100", n); return OK; }
ret_t nvmlDeviceGetUUID(struct dev *d, char *s, unsigned n) {
    strncpy(s, d->part ? "MIG-fake" : d->index ? "GPU-fake-1" : "GPU-fake-0", n);
    return OK;
}
struct memory { unsigned long long total, free, used; };
ret_t nvmlDeviceGetMemoryInfo(struct dev *d, struct memory *m) {
    m->total = d->part ? 10ULL << 30 : 40ULL << 30;
    m->used = 4ULL << 30;
    m->free = m->total - m->used;
    return alive();
}
struct util { unsigned gpu, memory; };
ret_t nvmlDeviceGetUtilizationRates(struct dev *d, struct util *u) {
    if (d->index == 1) return alive() ? alive() : UNSUPPORTED; // MIG is on
    u->gpu = 97; u->memory = 40;
    return whole(d);
}
ret_t nvmlDeviceGetPowerUsage(struct dev *d, unsigned *mw) { *mw = 300500; return d->index == 1 ? UNSUPPORTED : whole(d); }
ret_t nvmlDeviceGetEnforcedPowerLimit(struct dev *d, unsigned *mw) { *mw = 400000; return whole(d); }
ret_t nvmlDeviceGetTotalEnergyConsumption(struct dev *d, unsigned long long *mj) { *mj = 5000000; return whole(d); }
ret_t nvmlDeviceGetClockInfo(struct dev *d, int type, unsigned *mhz) { *mhz = type == 1 ? 1410 : 1215; return whole(d); }
ret_t nvmlDeviceGetMaxClockInfo(struct dev *d, int type, unsigned *mhz) { *mhz = 1410; return whole(d); }
ret_t nvmlDeviceGetTemperature(struct dev *d, int sensor, unsigned *c) { *c = 65; return whole(d); }
// The older name of what newer drivers call clock event reasons.
ret_t nvmlDeviceGetCurrentClocksThrottleReasons(struct dev *d, unsigned long long *mask) { *mask = 0x4; return whole(d); }
ret_t nvmlDeviceGetTotalEccErrors(struct dev *d, int type, int counter, unsigned long long *n) { *n = 0; return whole(d); }
ret_t nvmlDeviceGetMigMode(struct dev *d, unsigned *now, unsigned *pending) { *now = *pending = d->index == 1; return OK; }
ret_t nvmlDeviceGetMaxMigDeviceCount(struct dev *d, unsigned *n) { *n = d->index == 1 ? 7 : 0; return OK; }
ret_t nvmlDeviceGetMigDeviceHandleByIndex(struct dev *d, unsigned i, struct dev **out) {
    if (i > 0) return NOT_FOUND;
    *out = &parts[0];
    return OK;
}
struct process { unsigned pid; unsigned long long bytes; unsigned gi, ci; };
ret_t nvmlDeviceGetComputeRunningProcesses_v3(struct dev *d, unsigned *n, struct process *p) {
    if (d->part) return UNSUPPORTED;
    if (*n > 0) { p[0].pid = 4000 + d->index; p[0].bytes = 1; }
    *n = 1;
    return OK;
}
struct event { struct dev *d; unsigned long long type, data; unsigned gi, ci; };
static int pending = 1;
ret_t nvmlEventSetCreate(void **set) { *set = &pending; return OK; }
ret_t nvmlEventSetFree(void *set) { return OK; }
ret_t nvmlDeviceRegisterEvents(struct dev *d, unsigned long long types, void *set) { return d->index == 0 ? OK : UNSUPPORTED; }
ret_t nvmlEventSetWait_v2(void *set, struct event *e, unsigned ms) {
    const int timeout = 10;
    if (!pending) return timeout;
    pending = 0;
    e->d = &devs[0]; e->type = 8; e->data = 79;
    return OK;
}
