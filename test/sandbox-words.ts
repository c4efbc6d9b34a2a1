/** Which sandbox a session has depends on the machine: `started (bubblewrap, network full)`, `(claude; no sandbox)`. */
export function withoutSandbox(text: string): string {
  return text
    .replaceAll(/^sandbox: .*\n?/gm, '')
    .replaceAll(new RegExp(`; ${SANDBOX}(?=\\))`, 'g'), '')
    .replaceAll(new RegExp(` \\(${SANDBOX}\\) *$`, 'gm'), '')
    .replaceAll(new RegExp(` \\(${SANDBOX}\\) *`, 'g'), '  ');
}

const SANDBOX = '(?:no sandbox|(?:bubblewrap|container|user|sandbox-exec)(?:, network [^);\\n]*)?)';

/** The same for the answer of `run_plan`. */
export function withoutPlannedSandboxes(json: string): string {
  return json.replaceAll(/"sandboxes":\[(?:\{[^{}]*\},?)*\],/g, '');
}
