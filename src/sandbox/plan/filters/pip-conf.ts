import { isSecretName, withoutProxyUserinfo, withoutUserinfo } from './userinfo.ts';

/**
 * Keeps everything except comments, user names and passwords in addresses, and the user's certificate. Also handles
 * `uv.toml`.
 */
export function filterPipConf(text: string): string {
  let isDropped = false;
  return text
    .split(/\r?\n|\r/)
    .flatMap((line) => {
      if (/^\s*(?:[#;]|$)/.test(line)) return [];
      // An indented line continues the value above it.
      if (/^\s/.test(line) && !/^\s*[\w.-]+\s*[=:]\s/.test(line)) return isDropped ? [] : [withoutUserinfo(line)];
      const [, name] = /^\s*([\w.-]+)\s*[=:]/.exec(line) ?? [];
      isDropped = name !== undefined && (/^(?:client-cert|username)$/.test(name) || isSecretName(name));
      if (isDropped) return [];
      return [name === 'proxy' ? line.replace(/(?<=[=:]).*/, withoutProxyUserinfo) : withoutUserinfo(line)];
    })
    .map((line) => `${line}\n`)
    .join('');
}
