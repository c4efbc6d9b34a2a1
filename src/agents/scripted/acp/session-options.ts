import { RPC, RpcError } from '../../../acp/connection.ts';
import { type Fields, textOf } from '../../../protocol/shape/read-unknown.ts';

/** The choices of a client for a session. */
interface SessionChoices {
  mode: string;
  model: string;
}

const MODES = [
  { id: 'default', name: 'Default', description: 'Asks for permission if the script says so' },
  { id: 'plan', name: 'Plan', description: 'Never asks' },
];
const MODELS = [
  { value: 'scripted', name: 'Scripted' },
  { value: 'scripted-large', name: 'Scripted, large' },
];

export const DEFAULT_MODE = 'default';
export const DEFAULT_MODEL = 'scripted';

/** The modes and options of a session, as `session/new` and `session/load` return them. */
export function sessionState({ mode, model }: SessionChoices): object {
  return { modes: { currentModeId: mode, availableModes: MODES }, ...configOf(model) };
}

export function setMode(session: SessionChoices, { modeId }: Fields): object {
  const known = MODES.find(({ id }) => id === modeId);
  if (known === undefined) throw new RpcError(RPC.invalidParams, `unknown mode: ${textOf(modeId)}`);
  session.mode = known.id;
  return {};
}

export function setOption(session: SessionChoices, { configId, value }: Fields): object {
  if (configId !== 'model') throw new RpcError(RPC.invalidParams, `unknown option: ${textOf(configId)}`);
  const known = MODELS.find((model) => model.value === value);
  if (known === undefined) throw new RpcError(RPC.invalidParams, `unknown model: ${textOf(value)}`);
  session.model = known.value;
  return configOf(known.value);
}

function configOf(currentValue: string): object {
  const model = { id: 'model', name: 'Model', category: 'model', type: 'select', currentValue, options: MODELS };
  return { configOptions: [model] };
}
