/** A signal for as long as a command waits: Ctrl-C ends the waiting, and the command says what becomes of what it waited for. */
export function untilInterrupted(): { readonly signal: AbortSignal; readonly [Symbol.dispose]: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => controller.abort();
  process.once('SIGINT', onInterrupt);
  return { signal: controller.signal, [Symbol.dispose]: () => void process.off('SIGINT', onInterrupt) };
}
