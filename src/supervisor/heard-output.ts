/** What it printed before it asked lies in its pipe, and may come up behind the question. */
export async function drainOutput(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
