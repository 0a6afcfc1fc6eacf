import { otherCase } from '../../../domain/errors.ts';
import { isObject } from '../../../metering/json-value.ts';
import { foldName } from './fold-name.ts';

/** Names by which a hold tells what a tool or a budget is. */
const INSPECTED_WITHIN: ReadonlySet<string> = new Set(['type', 'budget_tokens', 'max_uses']);
const PLAIN = /^[a-z0-9_]*$/;

/**
 * Refuses `Type` beside `type` and the like where a nested name decides what a call may cost: of `thinking`, and of each
 * tool. What a tool takes is a schema in which any name may stand, and is not looked into. Throws 400 `invalid_json`.
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
