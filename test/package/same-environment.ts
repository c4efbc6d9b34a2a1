/**
 * The files of the int lane share a worker: to load the daemon's modules for each file costs a second of CPU time. A file may change the
 * environment of its process; the next file starts with the one that the worker had at first.
 */
const KEY = Symbol.for('baton.test.environment');
const shared: typeof globalThis & { [KEY]?: NodeJS.ProcessEnv } = globalThis;
const first = (shared[KEY] ??= { ...process.env });
for (const name of Object.keys(process.env)) if (!(name in first)) delete process.env[name];
Object.assign(process.env, first);
