/**
 * Removes the sandbox from a text. A session's sandbox, and what it lacks, depend on the machine: `started (bubblewrap,
 * network full)`, `(claude; no sandbox)`, `baton: sandbox: …` at the start of a log. A test that compares bytes or
 * positions of a log sets `sandbox = "none"` instead.
 */
export function withoutSandbox(text: string): string {
  return text
    .replaceAll(/^(?:baton: )?sandbox: .*\n?/gm, '')
    .replaceAll(new RegExp(`; ${SANDBOX}(?=\\))`, 'g'), '')
    .replaceAll(new RegExp(` \\(${SANDBOX}\\) *$`, 'gm'), '')
    .replaceAll(new RegExp(` \\(${SANDBOX}\\) *`, 'g'), '  ');
}

const SANDBOX = '(?:no sandbox|(?:bubblewrap|container|user|sandbox-exec)(?:, network [^);\\n]*)?)';

/** Removes the sandboxes from the answer of `run_plan`. */
export function withoutPlannedSandboxes(json: string): string {
  return json.replaceAll(/"sandboxes":\[(?:\{[^{}]*\},?)*\],/g, '');
}
