import type { Environment } from '../../protocol/environment.ts';
import type { AcpPresetName } from '../../protocol/run-plan.ts';
import { parseAuthority, renderTarget } from './proxy/host-rules.ts';

type OwnClient = 'claude' | 'codex' | 'gemini';
export type ModelClient = OwnClient | AcpPresetName;

/**
 * The hosts of the policy `model`: the client's API, and the host at which it renews a login. A base URL in the
 * environment replaces the API's host. Hosts for telemetry, updates and plugin stores are excluded, because the clients
 * work without them.
 */
export function modelHosts(client: ModelClient, env: Environment): readonly string[] {
  const own = OWN_CLIENTS[client];
  return own === undefined
    ? [...new Set([...(ACP_HOSTS[client] ?? []), ...hostsOfUrls(ACP_BASE_URLS[client] ?? [], env)])]
    : [...new Set([...HOSTS[own](env), ...hostsOfUrls(BASE_URLS[own], env)])];
}

/** Clients that use the API of one of the three built-in clients. */
const OWN_CLIENTS: Readonly<Partial<Record<ModelClient, OwnClient>>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  'claude-acp': 'claude',
  'codex-acp': 'codex',
  'gemini-acp': 'gemini',
};

/** opencode uses the provider that its user has chosen; other providers need `network = [HOST, …]`. */
const ACP_HOSTS: Readonly<Partial<Record<ModelClient, readonly string[]>>> = {
  opencode: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com', 'openrouter.ai'],
  copilot: ['api.githubcopilot.com', 'api.individual.githubcopilot.com', 'api.github.com', 'github.com'],
  qwen: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'chat.qwen.ai', 'portal.qwen.ai'],
  cline: ['api.cline.bot'],
  auggie: ['auth.augmentcode.com', '*.api.augmentcode.com'],
  grok: ['api.x.ai', 'accounts.x.ai', 'auth.x.ai'],
};

const ACP_BASE_URLS: Readonly<Partial<Record<ModelClient, readonly string[]>>> = {
  copilot: ['COPILOT_PROVIDER_BASE_URL'],
  qwen: ['OPENAI_BASE_URL'],
  grok: ['GROK_XAI_API_BASE_URL'],
};

const HOSTS: Readonly<Record<OwnClient, (env: Environment) => readonly string[]>> = {
  claude: (env) => {
    const cloud = cloudHosts(env);
    if (cloud.length > 0) return cloud;
    return isSet(env, 'ANTHROPIC_BASE_URL') ? [] : ['api.anthropic.com', 'platform.claude.com'];
  },
  // Requests with a subscription go to chatgpt.com, those with a key to api.openai.com.
  codex: () => ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  gemini: (env) => {
    if (isSet(env, 'GOOGLE_GENAI_USE_VERTEXAI')) return vertexHosts(env['GOOGLE_CLOUD_LOCATION']);
    return isSet(env, 'GOOGLE_GEMINI_BASE_URL')
      ? []
      : ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'];
  },
};

/** Variables that keep a client from requesting hosts that it does not need, so that the log does not report them. */
export const QUIET_VARIABLES: Readonly<Partial<Record<ModelClient, Readonly<Record<string, string>>>>> = {
  claude: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  'claude-acp': { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
};

/** The hosts of Claude through a cloud, for the switches that are set. */
function cloudHosts(env: Environment): readonly string[] {
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1';
  return [
    ...(isSet(env, 'CLAUDE_CODE_USE_BEDROCK') ? bedrockHosts(region) : []),
    ...(isSet(env, 'CLAUDE_CODE_USE_MANTLE') ? [`bedrock-mantle.${region}.api.aws`, ...awsLoginHosts(region)] : []),
    ...(isSet(env, 'CLAUDE_CODE_USE_VERTEX') ? vertexHosts(env['CLOUD_ML_REGION']) : []),
    ...(isSet(env, 'CLAUDE_CODE_USE_FOUNDRY') ? foundryHosts(env['ANTHROPIC_FOUNDRY_RESOURCE']) : []),
  ];
}

function bedrockHosts(region: string): readonly string[] {
  return [`bedrock-runtime.${region}.amazonaws.com`, `bedrock.${region}.amazonaws.com`, ...awsLoginHosts(region)];
}

function awsLoginHosts(region: string): readonly string[] {
  return ['sts', 'oidc', 'portal.sso'].map((service) => `${service}.${region}.amazonaws.com`);
}

/** Claude models may have their own regions (`VERTEX_REGION_…`), so all are listed. */
function vertexHosts(region: string | undefined): readonly string[] {
  const regional = region === undefined || region === 'global' ? [] : [`${region}-aiplatform.googleapis.com`];
  const shared = ['aiplatform.googleapis.com', 'aiplatform.us.rep.googleapis.com', 'aiplatform.eu.rep.googleapis.com'];
  return [...regional, ...shared, 'oauth2.googleapis.com', 'sts.googleapis.com', 'iamcredentials.googleapis.com'];
}

function foundryHosts(resource: string | undefined): readonly string[] {
  return [...(resource ? [`${resource}.services.ai.azure.com`] : []), 'login.microsoftonline.com'];
}

/** Variables whose value is an address that replaces the client's usual one. */
const BASE_URLS: Readonly<Record<OwnClient, readonly string[]>> = {
  claude: [
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_BEDROCK_BASE_URL',
    'ANTHROPIC_BEDROCK_MANTLE_BASE_URL',
    'ANTHROPIC_VERTEX_BASE_URL',
    'ANTHROPIC_FOUNDRY_BASE_URL',
    'ANTHROPIC_AWS_BASE_URL',
    'ANTHROPIC_GOOGLE_CLOUD_BASE_URL',
  ],
  codex: ['OPENAI_BASE_URL', 'AZURE_OPENAI_ENDPOINT'],
  gemini: ['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL', 'CODE_ASSIST_ENDPOINT'],
};

function hostsOfUrls(variables: readonly string[], env: Environment): readonly string[] {
  return variables.flatMap((name) => {
    const host = hostOfUrl(env[name] ?? '');
    return host === undefined ? [] : [host];
  });
}

/** The host as an entry of a list. A server of this machine needs its port, or the proxy refuses it. */
export function hostOfUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  const target = parseAuthority(url.host, url.protocol === 'https:' ? 443 : 80);
  return target === undefined ? undefined : renderTarget(target);
}

function isSet(env: Environment, name: string): boolean {
  return !['', '0', 'false', undefined].includes(env[name]);
}
