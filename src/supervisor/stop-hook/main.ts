import { readStdin, writeStdout } from '../../api/stdio.ts';
import { askSupervisor } from './ask-supervisor.ts';

/**
 * `baton agent hook stop AGENT_ID`, and the hook before a tool (`--before-tool AGENT_ID`), for clients that have only
 * command hooks. The supervisor decides; if it does not answer, this program does. Clients wait for it at every stop,
 * so it loads only the modules of the usual case.
 */
const agentId = process.argv.at(-1) ?? '';
const kind = process.argv.includes('--before-tool') ? 'pre-tool-use' : 'stop';
const input = readStdin();
const { BATON_AGENT_ID: own, BATON_URL: url, BATON_TOKEN: token } = process.env;
const port = own === agentId ? /^http:\/\/127\.0\.0\.1:(\d+)$/.exec(url ?? '')?.[1] : undefined;
const asked =
  port === undefined || !token ? Promise.resolve(undefined) : askSupervisor(Number(port), token, input, kind);

asked
  .then(async (answer) => answer ?? (await import('./ask-others.ts')).askWithoutSupervisor(agentId, input, kind))
  .then(
    (answer) => leave(answer),
    // Blocking the agent is better than letting it stop. A tool is held only for budgets, which need a supervisor.
    async () => leave(kind === 'stop' ? (await import('./ask-others.ts')).blockByConfig(agentId) : ''),
  );

/** The exit code is always 0: some clients take any other as permission to stop. */
function leave(answer: string): never {
  writeStdout(answer);
  process.exit(0);
}
