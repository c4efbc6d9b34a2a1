import type { Environment } from '../../protocol/environment.ts';
import type { Injection } from '../../protocol/sandbox.ts';
import { hostOfUrl, type ModelClient } from './model-hosts.ts';

/** How a client's secret is sent to its API: see `Injection`. */
interface SecretRoute extends Pick<Injection, 'api'> {
  readonly client: ModelClient;
  readonly upstream: string;
  /** The variable of the client's base URL. The user's value of it becomes the upstream. */
  readonly baseUrl: string;
  readonly header: string;
  readonly prefix: string;
  /** The variable with the client's placeholder, if it is not the secret's own variable. */
  readonly placeholder?: string;
}

const ANTHROPIC = {
  client: 'claude',
  api: 'anthropic',
  upstream: 'https://api.anthropic.com',
  baseUrl: 'ANTHROPIC_BASE_URL',
} as const;
const OPENAI = {
  client: 'codex',
  api: 'openai',
  upstream: 'https://api.openai.com/v1',
  baseUrl: 'OPENAI_BASE_URL',
  header: 'authorization',
  prefix: 'Bearer ',
  // The provider that the flags below define reads this variable.
  placeholder: 'OPENAI_API_KEY',
} as const;
const GEMINI = {
  client: 'gemini',
  api: 'gemini',
  upstream: 'https://generativelanguage.googleapis.com',
  baseUrl: 'GOOGLE_GEMINI_BASE_URL',
  header: 'x-goog-api-key',
  prefix: '',
} as const;

/** The secrets that can be injected, by their name. */
export const SECRET_ROUTES: Readonly<Record<string, SecretRoute>> = {
  ANTHROPIC_API_KEY: { ...ANTHROPIC, header: 'x-api-key', prefix: '' },
  ANTHROPIC_AUTH_TOKEN: { ...ANTHROPIC, header: 'authorization', prefix: 'Bearer ' },
  OPENAI_API_KEY: OPENAI,
  CODEX_API_KEY: OPENAI,
  GEMINI_API_KEY: GEMINI,
  // Gemini CLI uses this key only for Vertex AI.
  GOOGLE_API_KEY: { ...GEMINI, upstream: 'https://aiplatform.googleapis.com', baseUrl: 'GOOGLE_VERTEX_BASE_URL' },
};

/** The placeholder of a key, because clients do not start without one. */
const PLACEHOLDER = 'injected-by-baton';

/** Plans an injection; undefined if no known client reads this secret together with a base URL. */
export function planInjection(secret: string, env: Environment, paths: readonly string[] = []): Injection | undefined {
  const route = SECRET_ROUTES[secret];
  if (route === undefined) return undefined;
  const own = env[route.baseUrl] ?? '';
  return {
    secret,
    api: route.api,
    paths,
    upstream: hostOfUrl(own) === undefined ? route.upstream : own,
    header: route.header,
    prefix: route.prefix,
    env: { [route.baseUrl]: '${URL}', [route.placeholder ?? secret]: PLACEHOLDER },
  };
}

/**
 * Flags that define a provider, because Codex reads no base URL from its environment. The caller replaces
 * `${OPENAI_BASE_URL}` by the session's value.
 */
export const CODEX_PROVIDER_FLAGS: readonly string[] = [
  '-c',
  'model_provider="baton"',
  '-c',
  'model_providers.baton={name="Baton",base_url="${OPENAI_BASE_URL}",env_key="OPENAI_API_KEY",wire_api="responses"}',
];
