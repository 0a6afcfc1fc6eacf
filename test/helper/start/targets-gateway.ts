import type { Test } from 'tap';
import type { Config } from '../../../src/config/config.ts';
import type { Model, Target } from '../../../src/domain/catalog.ts';
import { creditPrice } from '../fixtures/credit-price.ts';
import {
  type Behave,
  type Behavior,
  type ScriptedProvider,
  startScriptedProvider,
} from '../stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  testCatalog,
  testConfig,
} from './gateway-in-process.ts';

/** Three scripted providers `a`, `b` and `c`, each with its behavior, behind one gateway. */
export interface TargetsGateway extends InProcessGateway {
  readonly providers: Readonly<Record<PlaceName, ScriptedProvider>>;
  /** Sets how a provider behaves from now on; undefined: as the demo. */
  behave(place: PlaceName, behavior?: Behavior): void;
  /** Lets a function choose how a provider answers each request. */
  behaveBy(place: PlaceName, behave: Behave): void;
  /** The model's name in each request that reached a provider. */
  asked(place: PlaceName): string[];
  /** The slug of a model in this test. Its name is an alias, because a gateway keeps the health of a slug's targets. */
  slugOf(model: string): string;
}

export type PlaceName = 'a' | 'b' | 'c';
const PLACES: readonly PlaceName[] = ['a', 'b', 'c'];

/** Prices of `ranked` at its targets: 1, 2 and 3 credits a request. */
const PRICES: Readonly<Record<PlaceName, number>> = { a: 1, b: 2, c: 3 };

let started = 0;

/**
 * Models: `ranked` runs at `a`, then `b`, then `c`, under the names `ranked-a` and so on. `even` is at `a` and `b` with
 * equal weights. `claude-ranked` is like `ranked`, in Anthropic's format. `film` makes videos at `a` and `b`.
 */
export async function startTargetsGateway(
  t: Test,
  limits: Partial<Config['limits']> = {},
): Promise<TargetsGateway> {
  const behaviors = new Map<PlaceName, Behave>();
  const all = await Promise.all(
    PLACES.map(
      async (place) =>
        [
          place,
          await startScriptedProvider({ behave: (request) => behaviors.get(place)?.(request) }),
        ] as const,
    ),
  );
  t.teardown(() => Promise.all(all.map(([, provider]) => provider.close())));
  const providers = Object.fromEntries(all) as Record<PlaceName, ScriptedProvider>;
  const base = testConfig('', providers.a.url);
  const test = started++;
  const slugOf = (model: string) => `${model}-${test}`;
  const catalog = catalogOf(providers, slugOf);
  const config = {
    catalog,
    upstreams: new Map(PLACES.map((place) => [place, upstreamOf(place, providers, 'openai')])),
    limits: { ...base.limits, ...limits },
  };
  const world = await startGatewayInProcess(t, { provider: providers.a, config });
  return {
    ...world,
    providers,
    behave: (place, behavior) => behaviors.set(place, () => behavior),
    behaveBy: (place, behave) => behaviors.set(place, behave),
    slugOf,
    asked: (place) => providers[place].requests.map(({ body }) => String(modelIn(body.toString()))),
  };
}

function modelIn(body: string): unknown {
  return /"model"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? /name="model"\r\n\r\n([^\r]*)/.exec(body)?.[1];
}

function upstreamOf(
  place: PlaceName,
  providers: Readonly<Record<PlaceName, ScriptedProvider>>,
  format: 'openai' | 'anthropic',
) {
  return {
    name: place,
    url: providers[place].url,
    apiKey: `secret-of-${place}`,
    format,
    passHeaders: [],
  } as const;
}

function catalogOf(
  providers: Readonly<Record<PlaceName, ScriptedProvider>>,
  slugOf: (model: string) => string,
): Config['catalog'] {
  const flat = testCatalog(providers.a.url).get('flat') as Model;
  const spread = (
    name: string,
    targets: readonly (Pick<Target, 'weight' | 'priority'> & { readonly place: PlaceName })[],
    { format = 'openai', ...more }: Partial<Model> & { readonly format?: 'openai' | 'anthropic' } = {},
  ): [string, Model] => {
    const slug = slugOf(name);
    const all = targets.map(({ place, weight, priority }): Target => {
      const price = creditPrice({ request: PRICES[place] });
      const upstream = upstreamOf(place, providers, format);
      return {
        model: {
          ...flat,
          slug,
          aliases: [name],
          upstream,
          upstreamModel: `${name}-${place}`,
          price,
          ...more,
        },
        weight,
        priority,
      };
    });
    return [slug, { ...(all[0] as Target).model, targets: all }];
  };
  const ranked = PLACES.map((place, priority) => ({ place, weight: 1, priority }));
  const even = ranked.slice(0, 2).map((target) => ({ ...target, priority: 1 }));
  return new Map([
    ['flat', flat],
    spread('ranked', ranked),
    spread('even', even),
    spread('claude-ranked', ranked, { format: 'anthropic' }),
    spread('film', ranked.slice(0, 2), { category: 'video', price: creditPrice({ request: 1 }) }),
    spread('heard', ranked.slice(0, 2), { category: 'stt' }),
  ]);
}

export { lastCharge };
