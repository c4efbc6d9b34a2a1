/** Not `node:timers/promises`: a supervisor loads no module that it can do without. */
export async function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
