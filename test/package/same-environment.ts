/**
 * The files of the int lane share a worker, because loading the daemon's modules for each file costs a second of CPU
 * time. A file may change its process's environment; the next file starts with the worker's original one.
 */
const KEY = Symbol.for('baton.test.environment');
const shared: typeof globalThis & { [KEY]?: NodeJS.ProcessEnv } = globalThis;
const first = (shared[KEY] ??= { ...process.env });
for (const name of Object.keys(process.env)) if (!(name in first)) delete process.env[name];
Object.assign(process.env, first);
