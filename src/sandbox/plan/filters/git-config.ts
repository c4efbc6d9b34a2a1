import { isSecretName, withoutUserinfo } from './userinfo.ts';

/**
 * Keeps names, aliases and preferences. Removes credential helpers and signing too: neither works without the keys, and
 * a commit that must be signed would fail.
 */
export function filterGitConfig(text: string): string {
  let section = '';
  let isDropped = false;
  let continues = false;
  return text
    .split(/\r?\n/)
    .flatMap((line) => {
      const isContinued = continues;
      continues = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
      if (isContinued) return isDropped || line === '' ? [] : [withoutUserinfo(line)];
      const [, header = '', rest = ''] = /^(\s*\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\])?(.*)$/.exec(line) ?? [];
      if (header !== '') section = header.trim().slice(1, -1).toLowerCase();
      const name = /^\s*([A-Za-z][A-Za-z0-9-]*)/.exec(rest)?.[1] ?? '';
      isDropped = /^\s*(?:[#;]|$)/.test(rest) || isSecret(section, name.toLowerCase());
      const kept = isDropped ? header : `${header}${rest}`;
      return kept === '' ? [] : [withoutUserinfo(kept)];
    })
    .map((line) => `${line}\n`)
    .join('');
}

function isSecret(section: string, name: string): boolean {
  if (/^credential\b/.test(section)) return name === 'helper' || name === 'username' || isSecretName(name);
  return /^(?:gpgsign|forcesignannotated|sslkey|sslcert)$/.test(name) || isSecretName(name);
}
