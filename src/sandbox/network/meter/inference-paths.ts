import type { Injection } from '../../../protocol/sandbox.ts';

/** How a request with an injected key is treated: counted, passed on, or refused. */
export type PathUse = 'metered' | 'free' | 'refused';

/** What a client needs beside inference is free: counting tokens, listing models, renewing a token. */
const PATHS: Readonly<Record<Injection['api'], Readonly<Record<Exclude<PathUse, 'refused'>, readonly string[]>>>> = {
  anthropic: {
    metered: ['POST /v1/messages'],
    free: ['POST /v1/messages/count_tokens', 'GET /v1/models', 'GET /v1/models/*', 'POST /v1/oauth/token', 'HEAD /'],
  },
  openai: {
    metered: ['/responses', '/responses/compact', '/chat/completions', '/completions'].flatMap((path) => [
      `POST ${path}`,
      `POST /v1${path}`,
    ]),
    free: ['POST /responses/input_tokens', 'GET /models', 'GET /models/*', 'POST /oauth/token'].flatMap((line) => [
      line,
      line.replace(' ', ' /v1'),
    ]),
  },
  gemini: {
    metered: geminiPaths('POST', ['generateContent', 'streamGenerateContent']),
    free: [
      ...geminiPaths('POST', ['countTokens']),
      ...['/v1', '/v1beta', '/v1beta1'].flatMap((version) => [`GET ${version}/models`, `GET ${version}/models/*`]),
    ],
  },
};

function geminiPaths(method: string, actions: readonly string[]): readonly string[] {
  const owners = ['models', 'publishers/google/models', 'projects/*/locations/*/publishers/google/models'];
  return ['/v1', '/v1beta', '/v1beta1'].flatMap((version) =>
    owners.flatMap((owner) => actions.map((action) => `${method} ${version}/${owner}/*:${action}`)),
  );
}

/**
 * Classifies a request by its method and its path below the base URL, without the query. The path is compared as it is
 * sent: a server might decode another spelling differently, so another spelling is refused.
 */
export function classifyPath({ api, paths }: Pick<Injection, 'api' | 'paths'>, method: string, path: string): PathUse {
  const asked = `${method} ${path}`;
  const { metered, free } = PATHS[api];
  if (free.some((each) => matches(each, asked))) return 'free';
  return [...metered, ...paths].some((each) => matches(each, asked)) ? 'metered' : 'refused';
}

/** `*` stands for one segment of a path, or a part of it; without `%`, so that no server decodes it to a slash. */
function matches(pattern: string, asked: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^A-Za-z0-9/ _-]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[A-Za-z0-9._:@~-]+')}$`).test(asked);
}
