/** Each function returns an empty value for another type. Use a shape if the sender must learn what is wrong. */
export type Fields = Readonly<Record<string, unknown>>;

/** Reports whether the value is an object with named fields: not null, and not an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** One field of an object; undefined if the value is no object or lacks the field as an own property. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): readonly Fields[] {
  return listOf(value).map(fieldsOf);
}

export function findText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export function fieldsInJson(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}
