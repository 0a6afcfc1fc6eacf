import { otherCase } from '../../../domain/errors.ts';
import { isObject } from '../../../metering/json-value.ts';
import { foldName } from './fold-name.ts';

/** Names of members of `thinking` and of tools that the size of a hold depends on. */
const INSPECTED_WITHIN: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'max_uses']);
const PLAIN = /^[a-z0-9_]*$/;

/**
 * Refuses an inspected name in another spelling, such as `Type` for `type`, in `thinking` and in each tool, because an
 * upstream that ignores case would read a value that the hold did not count. The schema of a tool may have any names
 * and is not searched. Throws 400 `invalid_json`.
 */
export function checkNestedNames({ thinking, tools }: Readonly<Record<string, unknown>>): void {
  if (thinking !== undefined) checkNames('thinking', thinking);
  if (!Array.isArray(tools)) return;
  for (const tool of tools) checkNames('A tool', tool);
}

function checkNames(where: string, value: unknown): void {
  if (!isObject(value)) return;
  for (const name in value) {
    if (PLAIN.test(name)) continue;
    const folded = foldName(name);
    if (name !== folded && INSPECTED_WITHIN.has(folded)) throw otherCase(where, name, folded);
  }
}
