/** Parses a Prometheus text into samples by series. Throws at the first line that format 0.0.4 does not allow. */
export function parsePrometheus(text: string): Map<string, number> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.slice(0, -1).split('\n')) {
    const [, about, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (about === 'TYPE') {
      if (types.has(name) || !/^(?:counter|gauge|histogram)$/.test(rest)) throw new Error(`bad type: ${line}`);
      types.set(name, rest);
    }
    if (about === undefined) addSample(line, types, samples);
  }
  for (const [name, type] of types) if (type === 'histogram') checkHistograms(name, samples);
  return samples;
}

const LABEL = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*"`;
const SAMPLE = new RegExp(String.raw`^([a-zA-Z_:][\w:]*)(\{(?:${LABEL}(?:,${LABEL})*)?\})? (\S+)$`);

function addSample(line: string, types: ReadonlyMap<string, string>, samples: Map<string, number>): void {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  const type = types.get(name) ?? types.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  if (type === undefined) throw new Error(`no sample, or its type is missing: ${line}`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`a counter ends with _total: ${line}`);
  if (!Number.isFinite(Number(value))) throw new Error(`no number: ${line}`);
  const key = `${name}${labels}`;
  if (samples.has(key)) throw new Error(`twice: ${line}`);
  samples.set(key, Number(value));
}

/** Checks that buckets grow, and that the last one counts all values. */
function checkHistograms(name: string, samples: ReadonlyMap<string, number>): void {
  const counts = [...samples].filter(([key]) => key.startsWith(`${name}_count{`));
  for (const [key, count] of counts) {
    const labels = key.slice(`${name}_count{`.length, -1);
    const buckets = [...samples].filter(([each]) => each.startsWith(`${name}_bucket{${labels},le=`)).map(([, n]) => n);
    const isGrowing = buckets.every((n, i) => n >= (buckets[i - 1] ?? 0));
    if (!isGrowing || buckets.at(-1) !== count || !samples.has(`${name}_sum{${labels}}`))
      throw new Error(`the buckets of ${key} do not add up`);
  }
}
