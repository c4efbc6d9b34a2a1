import { stringify } from 'yaml';

/** YAML that every reader takes for the same thing: whatever could be read as something else than text is quoted. */
export function renderYaml(value: object): string {
  return stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 });
}
