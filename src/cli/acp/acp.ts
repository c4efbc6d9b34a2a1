import { once } from 'node:events';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { ApiError } from '../../api/answer.ts';
import { belowSessionError, findSessionAbove } from '../../api/session-above.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { PROJECT_OPTION, reportError } from '../operation-command.ts';
import { EditorAgent } from './editor-agent.ts';
import { editorNameOf } from './editor-key.ts';

export const acpCommand: CliCommand = {
  examples: ['baton acp', 'baton acp --name zed', 'baton acp --project ~/src/shop'],
  args: [],
  options: [
    PROJECT_OPTION,
    { name: 'name', value: 'NAME', about: 'A name for the key of this connection (default: the name of the editor)' },
  ],
  exitCodes: {
    0: 'the editor has closed the connection',
    1: 'called in a session, which must not act for a person',
  },
  ownsTerminal: () => true,
  async run(given, io) {
    const refusal = findRefusal(io);
    if (refusal !== undefined) return reportError(refusal, given, io);
    const { stdin, stdout } = process;
    if (isatty(0)) io.err('baton acp waits for an editor that speaks the Agent Client Protocol. See: baton docs acp\n');
    const [project, name] = [given.options.get('project'), given.options.get('name')];
    const agent = new EditorAgent({
      env: io.env,
      project: project === undefined ? undefined : resolve(io.cwd, project),
      name: name === undefined ? undefined : editorNameOf(name),
      write: (line) => void stdout.write(line),
    });
    // If the editor has exited, both streams are closed, and nothing reads the remaining output.
    stdout.on('error', () => stdin.destroy());
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stdin.destroy());
    stdin.on('data', agent.push);
    await Promise.race([once(stdin, 'end'), once(stdin, 'close')]);
    await agent.close();
    return EXIT.ok;
  },
};

/** The command acts for a person, so an agent must not start it, with or without its own variables. */
function findRefusal({ env }: Io): ApiError | undefined {
  const above = findSessionAbove(findStateDir(env), env);
  if (above !== undefined) return belowSessionError(above);
  return /^[saw]\./.test(env['BATON_TOKEN'] ?? '') ? NOT_AN_OPERATOR : undefined;
}

const NOT_AN_OPERATOR: ApiError = {
  code: 'forbidden',
  message: "baton acp acts for the operator, but BATON_TOKEN is not the operator's token",
  hint: 'Run baton acp outside the session, without BATON_TOKEN.',
};
