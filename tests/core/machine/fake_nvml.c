/* What steptime calls of NVML, with the types and return codes of nvml.h. The variable FAKE_NVML says what the cards report:
   "devices=2 throttle=4 pid=77 ..."; what it does not name has the value beside its key below, and "key=none" is NOT_SUPPORTED. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int nvmlReturn_t;
typedef struct { int index; } *nvmlDevice_t;
typedef unsigned long long wide;
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

typedef struct { wide total, free, used; } nvmlMemory_t;
typedef struct { wide referenceTime, violationTime; } nvmlViolationTime_t;
typedef struct { unsigned pid; wide usedGpuMemory; unsigned gpuInstanceId, computeInstanceId; } nvmlProcessInfo_t;
typedef struct { unsigned pid; wide timeStamp; unsigned smUtil, memUtil, encUtil, decUtil; } nvmlProcessUtilizationSample_t;

static struct { int index; } cards[16];

static const char *setting(const char *key) {
    const char *text = getenv("FAKE_NVML"), *at = text;
    size_t length = strlen(key);
    while (at && (at = strstr(at, key))) {
        if ((at == text || at[-1] == ' ') && at[length] == '=') return at + length + 1;
        at += length;
    }
    return NULL;
}

static nvmlReturn_t value_of(const char *key, wide otherwise, wide *value) {
    const char *text = setting(key);
    if (setting("lost")) return GPU_IS_LOST;
    if (text && !strncmp(text, "none", 4)) return NOT_SUPPORTED;
    *value = text ? strtoull(text, NULL, 0) : otherwise;
    return SUCCESS;
}

static nvmlReturn_t narrow(const char *key, wide otherwise, unsigned *value) {
    wide result = 0;
    nvmlReturn_t code = value_of(key, otherwise, &result);
    if (code == SUCCESS) *value = (unsigned)result;
    return code;
}

nvmlReturn_t nvmlInit_v2(void) { return setting("unloaded") ? DRIVER_NOT_LOADED : SUCCESS; }

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned length) { snprintf(text, length, "550.54.14"); return SUCCESS; }

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) {
    const char *text = setting("devices");
    *count = text ? atoi(text) : 1;
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
    unsigned count;
    nvmlDeviceGetCount_v2(&count);
    if (index >= count || index >= 16) return INVALID_ARGUMENT;
    cards[index].index = (int)index;
    *device = (nvmlDevice_t)&cards[index];
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *text, unsigned length) {
    snprintf(text, length, setting("mixed") && device->index ? "NVIDIA T400" : "NVIDIA A100-SXM4-40GB");
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *text, unsigned length) {
    snprintf(text, length, "GPU-%d%d%d%d0000-aaaa-bbbb-cccc-000000000000", device->index, device->index, device->index, device->index);
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned type, unsigned *mhz) {
    return type == 1 ? narrow("sm_clock", 1410, mhz) : type == 2 ? narrow("memory_clock", 1215, mhz) : INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned type, unsigned *mhz) {
    return type == 1 ? narrow("most_sm_clock", 1410, mhz) : INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, wide *reasons) { return value_of("throttle", 0, reasons); }
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) { return narrow("power", 250500, milliwatts); }
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned *milliwatts) { return narrow("power_limit", 400000, milliwatts); }
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, wide *millijoules) { return value_of("energy", 5000, millijoules); }
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned *value) { return narrow("pcie_generation", 4, value); }
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *value) { return narrow("most_pcie_generation", 4, value); }
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned *value) { return narrow("pcie_width", 16, value); }
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *value) { return narrow("most_pcie_width", 16, value); }

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned sensor, unsigned *celsius) {
    return sensor ? INVALID_ARGUMENT : narrow("temperature", 61, celsius);
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned *current, unsigned *pending) {
    *pending = 0;
    return narrow("ecc", 1, current);
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned kind, unsigned counter, wide *errors) {
    return kind == 1 && counter == 0 ? value_of("ecc_errors", 0, errors) : INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    nvmlReturn_t code = value_of("memory_used", 3ULL << 30, &memory->used);
    memory->total = 40ULL << 30;
    memory->free = memory->total - memory->used;
    return code;
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, unsigned policy, nvmlViolationTime_t *time) {
    time->referenceTime = 1;
    return value_of(policy == 0 ? "power_violation" : "thermal_violation", 0, &time->violationTime);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count, nvmlProcessInfo_t *infos) {
    wide pids[2] = {0, 0}, memory = 0;
    unsigned room = *count;
    nvmlReturn_t code = value_of("own_pid", 0, &pids[0]);
    if (code == SUCCESS) code = value_of("pid", 0, &pids[1]);
    if (code != SUCCESS) return code;
    if (value_of("pid_memory", 1ULL << 30, &memory) == NOT_SUPPORTED) memory = ~0ULL;
    *count = 0;
    for (int i = 0; i < 2; i++) {
        if (!pids[i]) continue;
        if (*count >= room) return INSUFFICIENT_SIZE;
        infos[(*count)++] = (nvmlProcessInfo_t){(unsigned)pids[i], memory, ~0u, ~0u};
    }
    return SUCCESS;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples, unsigned *count, wide since) {
    wide own = 0, other = 0, percent = 0;
    nvmlReturn_t code = value_of("pid_percent", 0, &percent);
    if (code == SUCCESS) code = value_of("own_pid", 0, &own);
    if (code == SUCCESS) code = value_of("pid", 0, &other);
    if (code != SUCCESS) return code;
    if ((!own && !percent) || since == 0) return NOT_FOUND;
    *count = 0;
    if (own) samples[(*count)++] = (nvmlProcessUtilizationSample_t){(unsigned)own, since + 1, 50, 10, 0, 0};
    if (percent) samples[(*count)++] = (nvmlProcessUtilizationSample_t){(unsigned)other, since + 1, (unsigned)percent, 10, 0, 0};
    return SUCCESS;
}
