import { isGone, RPC, type RpcConnection, RpcError } from '../../../acp/connection.ts';
import { ACP_VERSION } from '../../../acp/messages.ts';
import { VERSION } from '../../../api/version.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import type { DriverSettings } from './settings.ts';

export interface OpenedSession {
  readonly id: string;
  readonly agent: string;
  readonly version: string;
  readonly model: string | null;
  readonly resumable: boolean;
}

/** The session cannot be opened. `isLogin`: because the agent requires a login. */
export class OpenError extends Error {
  readonly isLogin: boolean;

  constructor(message: string, isLogin = false) {
    super(message);
    this.isLogin = isLogin;
  }
}

export interface SessionPlace {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly capabilities: object;
}

/** Initializes the connection, logs in if the agent requires it, and opens a new session or loads the earlier one. */
export async function openSession(
  rpc: RpcConnection,
  settings: DriverSettings,
  place: SessionPlace,
): Promise<OpenedSession> {
  const client = { name: 'baton', title: 'Baton', version: VERSION };
  const meta = settings.clientMeta === undefined ? {} : { _meta: settings.clientMeta };
  const clientCapabilities = { ...place.capabilities, ...meta };
  const hello = { protocolVersion: ACP_VERSION, clientCapabilities, clientInfo: client };
  const initialized = fieldsOf(await ask(rpc, settings, 'initialize', hello, INITIALIZE_MS));
  const spoken = initialized['protocolVersion'];
  if (spoken !== ACP_VERSION)
    throw new OpenError(
      `${settings.name} speaks version ${numberOf(spoken)} of ACP; Baton speaks version ${ACP_VERSION}`,
    );
  const can = fieldsOf(initialized['agentCapabilities']);
  const { isLoading, method, params } = sessionRequest(settings, can, place);
  const opened = fieldsOf(await openLoggedIn(rpc, settings, initialized, place, method, params));
  const id = settings.conversation !== undefined && isLoading ? settings.conversation : textOf(opened['sessionId']);
  if (id === '' || id.length > MAX_NAME)
    throw new OpenError(`${settings.name} opened no session: its answer has no valid sessionId`);
  const model = await adjust(rpc, settings, id, opened);
  const { name, version } = fieldsOf(initialized['agentInfo']);
  return {
    id,
    agent: textOf(name).slice(0, MAX_NAME) || settings.name,
    version: textOf(version).slice(0, MAX_NAME),
    model: model?.slice(0, MAX_NAME) ?? null,
    resumable: settings.resumes !== false && findLoadMethod(can) !== undefined,
  };
}

const INITIALIZE_MS = 60_000;
const SESSION_MS = 120_000;
/** Limits names, because each usage report contains them. */
const MAX_NAME = 500;

/** `session/load` also repeats the conversation as updates, which the driver ignores. */
function findLoadMethod({ loadSession, sessionCapabilities }: Fields): string | undefined {
  if (loadSession === true) return 'session/load';
  return fieldsOf(sessionCapabilities)['resume'] === undefined ? undefined : 'session/resume';
}

function sessionRequest(settings: DriverSettings, can: Fields, { cwd, env }: SessionPlace) {
  const mcpServers = [mcpServer(settings, fieldsOf(can['mcpCapabilities'])['http'] === true, env)];
  const load = settings.conversation === undefined ? undefined : findLoadMethod(can);
  if (settings.conversation !== undefined && load === undefined)
    throw new OpenError(`${settings.name} cannot load the session ${settings.conversation}`);
  return load === undefined
    ? { isLoading: false, method: 'session/new', params: { cwd, mcpServers } }
    : { isLoading: true, method: load, params: { sessionId: settings.conversation, cwd, mcpServers } };
}

/** The agent already has the token in its environment, so this adds no exposure. */
function mcpServer({ baton }: DriverSettings, hasHttp: boolean, env: NodeJS.ProcessEnv): object {
  if (!hasHttp) return { name: 'baton', command: baton, args: ['mcp'], env: [] };
  const headers = [{ name: 'Authorization', value: `Bearer ${env['BATON_TOKEN'] ?? ''}` }];
  return { type: 'http', name: 'baton', url: `${env['BATON_URL'] ?? ''}/mcp`, headers };
}

async function openLoggedIn(
  rpc: RpcConnection,
  settings: DriverSettings,
  initialized: Fields,
  { env }: SessionPlace,
  method: string,
  params: object,
): Promise<unknown> {
  try {
    return await ask(rpc, settings, method, params, SESSION_MS);
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== RPC.authRequired) throw error;
    const { authenticate } = settings;
    if (authenticate === undefined || !env[authenticate.variable]) throw loginError(settings, initialized, error);
    await ask(rpc, settings, 'authenticate', { methodId: authenticate.method }, SESSION_MS);
    return ask(rpc, settings, method, params, SESSION_MS);
  }
}

function loginError({ name, authenticate }: DriverSettings, { authMethods }: Fields, error: RpcError): OpenError {
  const methods = objectsOf(authMethods).map(({ name: title, id }) => textOf(title) || textOf(id));
  const ways = methods.length === 0 ? '' : ` It offers: ${methods.join(', ')}.`;
  const key = authenticate === undefined ? '' : ` Or set ${authenticate.variable} where the daemon is started.`;
  return new OpenError(`${name} asks for a login (${error.message}). Log in once in a terminal.${key}${ways}`, true);
}

/** Sets mode, permissions and model if the agent offers them. Returns the model in use. */
async function adjust(
  rpc: RpcConnection,
  settings: DriverSettings,
  sessionId: string,
  opened: Fields,
): Promise<string | null> {
  const { availableModes, currentModeId } = fieldsOf(opened['modes']);
  const modes = objectsOf(availableModes).map(({ id }) => textOf(id));
  const { mode, model, permissionSetting = {} } = settings;
  if (mode !== undefined && !modes.includes(mode))
    throw new OpenError(`${settings.name} has no mode ${mode}. It has: ${modes.join(', ') || 'none'}`);
  const wanted = mode ?? permissionSetting.mode;
  if (wanted !== undefined && modes.includes(wanted) && wanted !== currentModeId)
    await ask(rpc, settings, 'session/set_mode', { sessionId, modeId: wanted }, SESSION_MS);
  const options = objectsOf(opened['configOptions']);
  const { option } = permissionSetting;
  const set = async (configId: string, value: string): Promise<unknown> =>
    ask(rpc, settings, 'session/set_config_option', { sessionId, configId, value }, SESSION_MS);
  if (option !== undefined && options.some(({ id }) => id === option.id)) await set(option.id, option.value);
  const chooser = options.find(({ category, id }) => category === 'model' || id === 'model');
  const known = fieldsOf(opened['models']);
  const current = textOf(chooser?.['currentValue']) || textOf(known['currentModelId']) || null;
  if (model === undefined) return current;
  // An option's name may differ from its value.
  const value = objectsOf(chooser?.['options']).find(({ name }) => name === model)?.['value'] ?? model;
  if (value === current) return model;
  if (chooser !== undefined) await set(textOf(chooser['id']), textOf(value));
  else if (opened['models'] !== undefined)
    await ask(rpc, settings, 'session/set_model', { sessionId, modelId: model }, SESSION_MS);
  return model;
}

/** Sends a request with a deadline. A program that does not answer is not an ACP agent or cannot start. */
async function ask(
  rpc: RpcConnection,
  { name }: DriverSettings,
  method: string,
  params: object,
  withinMs: number,
): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new OpenError(`${name} did not answer ${method} within ${withinMs / 1000} s`)),
    withinMs,
  );
  try {
    return await Promise.race([rpc.request(method, params), late.promise]);
  } catch (error) {
    if (error instanceof RpcError && error.code !== RPC.authRequired && !isGone(error))
      throw new OpenError(`${name} refused ${method}: ${error.message}`);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
