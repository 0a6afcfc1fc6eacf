import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type ListModel, type ListProvider, matches, modelOf } from './list-data.ts';
import { NotAList, readList } from './read-list.ts';

/** The prices of providers, read once, with a name for the version of it. */
export interface PriceList {
  /** Name and version for people: `@pydantic/genai-prices 0.1.8`, or a file and its day. */
  readonly version: string;
  /** Ids of its providers. */
  readonly ids: readonly string[];
  provider(id: string): ListProvider | undefined;
  /** The provider that a name which is no id stands for: `gemini` for google. */
  providerLike(name: string): ListProvider | undefined;
  /** The model of a provider by any of its names, an alias or a dated one. */
  model(provider: ListProvider, name: string): ListModel | undefined;
}

const PACKAGE = '@pydantic/genai-prices';
/** The list of the project has 1.5 MB. */
const MOST_BYTES = 64 * 1_048_576;

/** Part of the package that is used: the data that its `findProvider` returns, and nothing of its arithmetic. */
interface Package {
  findProvider(of: { readonly providerId: string }): (ListProvider & { readonly id: string }) | undefined;
}

let packaged: PriceList | undefined;

/**
 * The list of the pinned package. It is loaded at the first call, and kept: loading takes 35 to 50 ms, and 3 MB of heap stay.
 */
export function packagedList(): PriceList {
  if (packaged) return packaged;
  const require = createRequire(import.meta.url);
  const main = require.resolve(PACKAGE);
  const { findProvider } = require(main) as Package;
  const { version } = JSON.parse(readFileSync(join(dirname(main), '../package.json'), 'utf8')) as {
    version: string;
  };
  const provider = (id: string) => {
    const found = findProvider({ providerId: id });
    return found?.id === id ? found : undefined;
  };
  packaged = {
    version: `${PACKAGE} ${version}`,
    ids: PACKAGED_IDS,
    provider,
    providerLike: (name) => findProvider({ providerId: name }),
    model: (of, name) => modelOf(of, name, provider),
  };
  return packaged;
}

/** A newer copy of the list's data. Throws NotAList, with the reason, if the file cannot be used. */
export function listOfFile(path: string): PriceList {
  const byId = new Map(readList(parsed(path)).map((provider) => [provider.id, provider]));
  const provider = (id: string) => byId.get(id);
  return {
    version: `${basename(path)} of ${statSync(path).mtime.toISOString().slice(0, 10)}`,
    ids: [...byId.keys()],
    provider,
    providerLike: (name) =>
      [...byId.values()].find(
        ({ provider_match }) => provider_match && matches(provider_match, name.toLowerCase()),
      ),
    model: (of, name) => modelOf(of, name, provider),
  };
}

function parsed(path: string): unknown {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new NotAList(`it has ${size} bytes, more than ${MOST_BYTES}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof NotAList) throw error;
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new NotAList(isAbsent ? 'the file does not exist' : 'the file cannot be read');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new NotAList('it is not JSON');
  }
}

/** The package has no way to ask for them; a test holds them to it. */
export const PACKAGED_IDS: readonly string[] = (
  'anthropic arcee avian aws azure baseten cerebras cloudflare cohere cursor deepseek doubleword fireworks ' +
  'github-copilot google groq huggingface_cerebras huggingface_fireworks-ai huggingface_groq huggingface_hyperbolic ' +
  'huggingface_nebius huggingface_novita huggingface_nscale huggingface_ovhcloud huggingface_publicai ' +
  'huggingface_sambanova huggingface_together minimax mistral modal moonshotai novita openai openrouter ovhcloud ' +
  'perplexity quicksilverpro together typesafe voyageai x-ai zai zhipuai'
).split(' ');
