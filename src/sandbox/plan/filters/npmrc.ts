import { isSecretName, withoutProxyUserinfo, withoutUserinfo } from './userinfo.ts';

/**
 * Keeps settings such as registries, proxies and preferences. Only lines with a plain name are kept, which also removes
 * the lines of a pasted key. Settings of one host (`//host/:NAME`) are credentials, with two exceptions.
 */
export function filterNpmrc(text: string): string {
  return text
    .split(/\r?\n|\r/)
    .flatMap((line) => keepLine(line))
    .map((line) => `${line}\n`)
    .join('');
}

function keepLine(line: string): string[] {
  const [, rawName = '', rawValue = ''] = /^\s*([^=]+?)\s*=(.*)$/.exec(line) ?? [];
  const name = rawName.replace(/^(["'])(.*)\1$/, '$2');
  // npm reads the rest of a line after these characters as a comment.
  const value = rawValue.replace(/(^|[^\\])[;#].*$/, '$1').trim();
  const [, ofHost] = /^\/\/[^\s]+:([A-Za-z-]+)$/.exec(name) ?? [];
  if (ofHost !== undefined) return /^(?:always-auth|cafile)$/.test(ofHost) ? [`${name}=${value}`] : [];
  const [, setting] = /^(?:@[\w.~-]+:)?([a-z][a-z0-9-]*)(?:\[\])?$/.exec(name) ?? [];
  if (setting === undefined || CREDENTIALS.has(setting) || isSecretName(setting)) return [];
  const clean = setting.endsWith('proxy') ? withoutProxyUserinfo(value) : withoutUserinfo(value);
  return [`${name}=${clean}`];
}

const CREDENTIALS: ReadonlySet<string> = new Set(['username', 'email', 'cert', 'key', 'certfile', 'keyfile', 'otp']);
