import { invalidField } from '../../domain/errors.ts';
import type { Charge } from './asked.ts';
import type { CacheLife } from './cache-life.ts';
import { refuseModels, SEARCHES, shown } from './charges.ts';
import type { FieldToSet } from './fields-to-set.ts';
import type { ToolBound, ToolKind } from './tool-kinds.ts';
import { addRounds, NO_ROUNDS, type ProviderTools, type Rounds, UNNAMED_ROUNDS } from './tool-rounds.ts';
import { listOf, toolOf, wholeNumberOf } from './well-typed.ts';

type Tool = Readonly<Record<string, unknown>>;

/** Members of a tool by which another model runs: an advisor, the model that draws, the one that writes an SVG. */
const MODELS = ['model', 'svg'] as const;
/** Most tools of one request whose bound the gateway sends: no provider has as many kinds of them. */
const MAX_SET = 32;

/** The tools of a request, wherever they stand, counted as they are found. */
export class ToolTally {
  readonly #kindOf: (tool: Tool) => ToolKind;
  readonly #boundsOf: (tool: Tool) => readonly ToolBound[];
  readonly #cacheLife: CacheLife;
  readonly #identity: 'function' | 'name';
  readonly charges: Charge[] = [];
  /** Bounds of tools that the request leaves open, which the gateway sends. */
  readonly sets: FieldToSet[] = [];
  /** Number of all definitions. */
  count = 0;
  /** Definitions with a type of the vendor's. */
  typed = 0;
  /** Types of those that the provider runs, as the request has them. */
  readonly provided: string[] = [];
  /** The model reads what some of them find. */
  isGrowing = false;
  /** Nothing bounds how much some of them find. */
  isOpen = false;
  /** How any of them searches the web: `preview` where both kinds do, as all searches are charged so then. */
  searches: 'search' | 'preview' | undefined;
  /** Rounds of the tools that have a bound of their own. */
  #rounds: Rounds = NO_ROUNDS;
  #growing: Rounds = NO_ROUNDS;
  #searches: Rounds = NO_ROUNDS;
  #contentTokens = 0;
  /** Some tool has no bound of its own, and some tool of these finds text. */
  #isUnbounded = false;
  #isUnboundedGrowing = false;

  /** `identity`: the member of a tool without a type. `boundsOf`: the members that bound a tool, in formats that have such. */
  constructor(
    kindOf: (tool: Tool) => ToolKind,
    cacheLife: CacheLife,
    identity: 'function' | 'name',
    boundsOf: (tool: Tool) => readonly ToolBound[] = () => [],
  ) {
    this.#identity = identity;
    this.#kindOf = kindOf;
    this.#cacheLife = cacheLife;
    this.#boundsOf = boundsOf;
  }

  /**
   * Adds a list of tools, those of the groups within it too. `param`: the field of the request that holds it. Throws 400
   * `invalid_field` for what is no tool.
   */
  add(list: unknown, param: string): void {
    const open = [listOf(list, param)];
    // The list grows while it is walked: a client decides how deep its JSON is.
    for (const tools of open) {
      for (const one of tools) {
        const tool = toolOf(one, param, this.#identity);
        this.#add(tool, param);
        if (tool.type === 'namespace') open.push(listOf(tool.tools, param));
      }
    }
  }

  /** Whether the provider runs any of them. */
  get isProvided(): boolean {
    return this.provided.length > 0;
  }

  /** What they can make the model read, where each has a bound of its own. `isOpen`: so do servers beside them. */
  rounds(isOpen = false): ProviderTools {
    const isUnbounded = this.#isUnbounded || isOpen;
    return {
      rounds: isUnbounded ? addRounds(this.#rounds, UNNAMED_ROUNDS) : this.#rounds,
      growing: this.#isUnboundedGrowing ? addRounds(this.#growing, UNNAMED_ROUNDS) : this.#growing,
      searches: this.#searches,
      contentTokens: this.#contentTokens,
      isOpen: this.isOpen || isOpen,
    };
  }

  #add(tool: Tool, param: string): void {
    this.count++;
    if (typeof tool.type === 'string') this.typed++;
    this.#cacheLife.read(tool);
    const kind = this.#kindOf(tool);
    refuseModels(kind === 'model' ? { model: tool.type } : tool, MODELS, param);
    if (kind === 'client') return;
    this.provided.push(String(tool.type).slice(0, 100));
    this.#bound(tool, kind, param);
    if (kind === 'search' || kind === 'preview') {
      if (this.searches !== 'preview') this.searches = kind;
      this.charges.push({ param, ...SEARCHES[kind] });
    }
    if (kind === 'fee') this.charges.push({ param, what: `tools of type ${shown(tool.type)}` });
  }

  #bound(tool: Tool, kind: ToolKind, param: string): void {
    const isGrowing = kind !== 'listed';
    if (isGrowing) this.isGrowing = true;
    if (kind === 'open') this.isOpen = true;
    const bounds = this.#boundsOf(tool);
    if (bounds.includes('max_content_tokens')) {
      const tokens = this.#named(tool, 'max_content_tokens', param);
      this.#contentTokens = Math.max(this.#contentTokens, tokens ?? 0);
    }
    if (!bounds.includes('max_uses')) {
      this.#isUnbounded = true;
      if (isGrowing) this.#isUnboundedGrowing = true;
      return;
    }
    const uses = this.#named(tool, 'max_uses', param);
    const rounds: Rounds = uses === undefined ? { named: 0, sent: 1 } : { named: uses, sent: 0 };
    this.#rounds = addRounds(this.#rounds, rounds);
    this.#growing = addRounds(this.#growing, rounds);
    if (kind === 'search') this.#searches = addRounds(this.#searches, rounds);
  }

  /** A bound that a tool names; undefined where it names none, and the gateway sends it. */
  #named(tool: Tool, name: ToolBound, param: string): number | undefined {
    const value = wholeNumberOf(tool[name], param, `${name} of a tool`);
    if (value === undefined) {
      if (this.sets.length >= MAX_SET)
        throw invalidField(param, `${param} has too many provider-run tools. Send fewer.`);
      this.sets.push({ list: param, of: tool, name });
    }
    return value;
  }
}
