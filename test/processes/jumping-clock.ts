/**
 * Loaded first into a process, this puts its wall clock where the parent says: the last number of milliseconds that it sent is added
 * to the time of day. Timers and `performance.now()` run on, as they do when somebody sets the clock of a machine.
 */
let offsetMs = 0;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget): Date =>
    args.length === 0 ? new target(RealDate.now() + offsetMs) : (Reflect.construct(target, args, newTarget) as Date), // oxlint-disable-line typescript/no-unsafe-type-assertion
  apply: () => new RealDate(RealDate.now() + offsetMs).toString(),
  get: (target, name, receiver): unknown =>
    name === 'now' ? () => RealDate.now() + offsetMs : Reflect.get(target, name, receiver),
});

process.on('message', (ms) => {
  offsetMs = Number(ms);
});
process.channel?.unref();
