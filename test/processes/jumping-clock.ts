/**
 * Preloaded into a process: sets its wall clock by the last number of milliseconds that the parent sent. Timers and
 * `performance.now()` are unaffected, as when a user changes a machine's clock.
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
