import { runMcpStdio } from '../../src/mcp/stdio.ts';

/** `baton mcp` without the command line, and without daemons that outlive a test. */
process.exitCode = await runMcpStdio({
  env: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  autostart: false,
  err: (text) => process.stderr.write(text),
});
