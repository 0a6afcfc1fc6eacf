import { invalidField } from '../../domain/errors.ts';
import { isObject } from '../json-value.ts';
import { NONE } from './asked.ts';

/**
 * What decides must have its own type (specification section 4): a lenient provider takes text for a number, and an object for
 * a list. Each of these throws 400 `invalid_field`; null counts as absent.
 */

/** A list; empty if it is absent. */
export function listOf(value: unknown, param: string): readonly unknown[] {
  if (value === undefined || value === null) return NONE;
  if (!Array.isArray(value)) throw invalidField(param, `${param} must be a list.`);
  return value;
}

/** A text or a list. */
export function checkContent(value: unknown, param: string): void {
  if (isObject(value)) throw invalidField(param, `The content of ${param} must be a string or a list.`);
}

/** A tool, which says what it is by its `type`, or by `name` or `function`, as the format has it. */
export function toolOf(
  tool: unknown,
  param: string,
  identity: 'function' | 'name',
): Readonly<Record<string, unknown>> {
  if (!isObject(tool)) throw invalidField(param, `Each tool in ${param} must be an object.`);
  if ((tool.type ?? tool[identity] ?? undefined) === undefined)
    throw invalidField(param, `Each tool in ${param} must have type or ${identity}.`);
  return tool;
}

/** A count; undefined if it is absent. `what` names it in a message. */
export function wholeNumberOf(value: unknown, param: string, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidField(param, `${what} must be a whole number of at least 0.`);
}
