/** The figures of `costs_get` that say who has counted the tokens. */
interface CountedTokens {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly measured_tokens: number;
  readonly client_tokens: number;
}

/** Says who has counted the tokens of a table; undefined if there are none. */
export function renderUsageSource(total: CountedTokens): string | undefined {
  const { measured_tokens: measured, client_tokens: client } = total;
  const others = total.input_tokens + total.output_tokens + total.cached_tokens - measured;
  if (measured === 0) return others === 0 ? undefined : 'Tokens are as the client reports them.';
  const reported = client === measured ? '' : ` (the client reports ${grouped(client)})`;
  const rest = others > 0 ? ` The other ${grouped(others)} are as the client reports them.` : '';
  return `Baton has measured ${grouped(measured)} tokens${reported}.${rest}`;
}

function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
