import type { Bounds } from './bounds.ts';
import type { ToolBound } from './tool-kinds.ts';

/** A bound that a request leaves open and the gateway sends, because it is what the hold counts (specification section 5). */
export interface FieldToSet {
  /** The member of the request that holds the tool; undefined: the request itself has the field. */
  readonly list?: string;
  /** The tool that has the field. */
  readonly of?: Readonly<Record<string, unknown>>;
  readonly name: ToolBound | 'max_tool_calls';
}

/** The value that is sent. */
export function valueToSet({ name }: FieldToSet, { toolRounds, toolTokens }: Bounds): number {
  return name === 'max_content_tokens' ? toolTokens : toolRounds;
}
