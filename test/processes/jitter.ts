import { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Preloaded by `scripts/jitter.ts`: makes this process randomly slow. Writes to a socket are delayed, in order, and so
 * are exit events of children. This finds code that relies on a certain order, here or at the other end.
 */
for (const name of ['_write', '_writev']) {
  replace(Socket.prototype, name, (write) => (socket, args) => {
    const ms = isOwnOutput(socket) ? 0 : randomMs();
    if (ms === 0) write(socket, args);
    else setTimeout(() => write(socket, args), ms);
  });
}

const last = new WeakMap<object, Promise<void>>();

replace(ChildProcess.prototype, 'emit', (emit) => (child, args) => {
  if (args[0] !== 'exit' && args[0] !== 'close') return emit(child, args);
  const before = last.get(child) ?? Promise.resolve();
  const said = before.then(async () => pause(randomMs())).then(() => void emit(child, args));
  last.set(child, said);
  return true;
});

type Method = (self: object, args: readonly unknown[]) => unknown;

function replace(prototype: object, name: string, make: (was: Method) => Method): void {
  const was = Reflect.get(prototype, name);
  const method = make((self, args) => Reflect.apply(was, self, args));
  Reflect.set(prototype, name, function (this: object, ...args: readonly unknown[]) {
    return method(this, args);
  });
}

/** Excludes standard output and errors, because a program exits without waiting for them. */
function isOwnOutput(socket: object): boolean {
  return 'fd' in socket && (socket.fd === 1 || socket.fd === 2);
}

/** A random delay: mostly none, sometimes short, rarely long enough for all others to be first. */
function randomMs(): number {
  const kind = Math.random();
  if (kind < 0.7) return 0;
  return kind < 0.95 ? Math.random() * 25 : 40 + Math.random() * 160;
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
