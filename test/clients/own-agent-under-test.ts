import { join } from 'node:path';
import { startAnthropic } from '../models/anthropic.ts';
import { uses } from '../models/script.ts';
import type { ClientCase } from './client.cases.ts';

const PROGRAM = join(import.meta.dirname, '../../examples/agents/own-agent.mjs');

/** The agent of the documentation, as an example of any command. Its usage is unknown to Baton. */
export const ownAgentCase: Pick<ClientCase, 'run' | 'startModel' | 'model' | 'env' | 'shell' | 'setUp'> & {
  readonly usage: null;
  readonly envPass: readonly string[];
} = {
  run: `${process.execPath} ${PROGRAM}`,
  startModel: startAnthropic,
  model: 'any-model',
  env: ({ model }) => ({ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'dummy', AGENT_MODEL: 'any-model' }),
  shell: (command) => uses('shell', { command }),
  setUp: () => {},
  usage: null,
  envPass: ['ANTHROPIC_*', 'AGENT_MODEL'],
};
