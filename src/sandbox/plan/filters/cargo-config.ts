import { isSecretName, withoutUserinfo } from './userinfo.ts';

/** Keeps everything but comments, tokens, credential providers, and user names and passwords in addresses. */
export function filterCargoConfig(text: string): string {
  let droppedUntil: string | undefined;
  return text
    .split(/\r?\n|\r/)
    .flatMap((line) => {
      if (droppedUntil !== undefined) {
        if (line.includes(droppedUntil)) droppedUntil = undefined;
        return [];
      }
      if (/^\s*(?:#|$)/.test(line)) return [];
      const [, name = '', value = ''] = /^\s*([\w."'\s-]+?)\s*=\s*(.*)$/.exec(line) ?? [];
      const last = name.split('.').at(-1) ?? '';
      if (!isSecretName(last)) return [withoutUserinfo(line.replaceAll(INLINE_SECRET, ''))];
      const [, quote] = /^("""|''')/.exec(value) ?? [];
      if (quote !== undefined && !value.slice(3).includes(quote)) droppedUntil = quote;
      if (/^\[(?!.*\]\s*$)/.test(value)) droppedUntil = ']';
      return [];
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** A pair in an inline table, such as `token = "…"` in `registry = { index = "…", token = "…" }`. */
const INLINE_SECRET =
  /["']?[\w-]*(?:token|secret|credential|password)[\w-]*["']?\s*=\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|\[[^\]]*\])\s*,?/gi;
