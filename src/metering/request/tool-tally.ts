import { isObject } from '../json-value.ts';
import type { Charge } from './asked.ts';
import { asksHourCache, refuseModels, refuseOtherCase, shown, WEB_SEARCH } from './charges.ts';
import { TOOL_ROUNDS } from './token-cost.ts';
import type { ToolKind } from './tool-kinds.ts';

/** Members of a tool by which another model runs: an advisor, the model that draws, the one that writes an SVG. */
const MODELS = ['model', 'svg'] as const;

/** The tools of a request, wherever they stand, counted as they are found. */
export class ToolTally {
  readonly #kindOf: (tool: Readonly<Record<string, unknown>>) => ToolKind;
  readonly charges: Charge[] = [];
  /** Number of all definitions. */
  count = 0;
  /** Definitions with a type of the vendor's. */
  typed = 0;
  asksHourCache = false;
  /** Types of those that the provider runs, as the request has them. */
  readonly provided: string[] = [];
  #searches = false;
  /** Uses that tools with a `max_uses` allow together. */
  #uses = 0;
  #isUnlimited = false;

  constructor(kindOf: (tool: Readonly<Record<string, unknown>>) => ToolKind) {
    this.#kindOf = kindOf;
  }

  /** Adds a list of tools, those of the groups within it too. `param`: the field of the request that holds it. */
  add(list: unknown, param: string): void {
    if (!Array.isArray(list)) return;
    const open: unknown[][] = [list];
    // The list grows while it is walked: a client decides how deep its JSON is.
    for (const tools of open) {
      for (const tool of tools) {
        if (!isObject(tool)) continue;
        this.#add(tool, param);
        if (tool.type === 'namespace' && Array.isArray(tool.tools)) open.push(tool.tools);
      }
    }
  }

  /** Whether the provider runs any of them. */
  get isProvided(): boolean {
    return this.provided.length > 0;
  }

  /** Whether any of them searches the web. */
  get searches(): boolean {
    return this.#searches;
  }

  /** Rounds by `max_uses`, as Anthropic has it. */
  get roundsByUses(): number {
    return this.#isUnlimited ? Math.max(TOOL_ROUNDS, this.#uses) : this.#uses;
  }

  #add(tool: Readonly<Record<string, unknown>>, param: string): void {
    refuseOtherCase('A tool', tool);
    this.count++;
    if (typeof tool.type === 'string') this.typed++;
    if (tool.cache_control !== undefined && asksHourCache(tool.cache_control)) this.asksHourCache = true;
    const kind = this.#kindOf(tool);
    refuseModels(kind === 'model' ? { model: tool.type } : tool, MODELS, param);
    if (kind === 'client') return;
    this.provided.push(String(tool.type).slice(0, 100));
    this.#limit(tool.max_uses);
    if (kind === 'search') {
      this.#searches = true;
      this.charges.push({ param, ...WEB_SEARCH });
    }
    if (kind === 'fee') this.charges.push({ param, what: `tools of the type ${shown(tool.type)}` });
  }

  #limit(uses: unknown): void {
    if (Number.isSafeInteger(uses)) this.#uses += Math.max(0, uses as number);
    else this.#isUnlimited = true;
  }
}
