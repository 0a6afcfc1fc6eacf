import { foldName, otherCase } from '../../../domain/field-names.ts';
import { isObject } from '../../../metering/json-value.ts';

/** Nested names that holds read. */
const INSPECTED_WITHIN: ReadonlySet<string> = new Set([
  'type',
  'budget_tokens',
  'max_uses',
  // Names within tools: who runs them, and which model.
  'execution',
  'environment',
  'model',
  'svg',
  'tools',
  'cache_control',
  // Names within edits of the conversation.
  'edits',
  'trigger',
  'compact_threshold',
]);
const PLAIN = /^[a-z0-9_]*$/;

/**
 * Refuses `Type` beside `type` and the like where a nested name decides what a call may cost: in `thinking`, in
 * `context_management`, and in each tool, those too that an item of `input` brings. The schema of a tool may have any names and
 * is not searched. Throws 400 `invalid_json`.
 */
export function checkNestedNames(value: Readonly<Record<string, unknown>>): void {
  const { thinking, tools, context_management: management, input } = value;
  if (thinking !== undefined) checkNames('thinking', thinking);
  if (management !== undefined) {
    checkNames('context_management', management);
    checkEach('context_management', isObject(management) ? management.edits : management);
  }
  checkEach('A tool', tools);
  if (!Array.isArray(input)) return;
  for (const item of input) if (isObject(item) && item.tools !== undefined) checkEach('A tool', item.tools);
}

function checkEach(where: string, list: unknown): void {
  if (Array.isArray(list)) for (const one of list) checkNames(where, one);
}

function checkNames(where: string, value: unknown): void {
  if (!isObject(value)) return;
  for (const name in value) {
    if (PLAIN.test(name)) continue;
    const folded = foldName(name);
    if (name !== folded && INSPECTED_WITHIN.has(folded)) throw otherCase(where, name, folded);
  }
}
