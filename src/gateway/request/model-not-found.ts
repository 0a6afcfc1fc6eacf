import type { Catalog } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { nearNames } from '../../domain/near-names.ts';
import { type CompiledKey, mayCall } from '../../domain/rules.ts';

/** The 404 for a model that the catalog lacks. It suggests only models that the key may call. */
export function modelNotFound(name: string, catalog: Catalog, compiled: CompiledKey): GatewayError {
  const message = `The model ${JSON.stringify(name.slice(0, 200))} does not exist.`;
  return new GatewayError('model_not_found', `${message}${didYouMean(name, catalog, compiled)}`, 'model');
}

/** The sentence that suggests the model with the name most like this one, and says where all are listed. */
export function didYouMean(name: string, catalog: Catalog, compiled: CompiledKey): string {
  const callable = [...catalog.values()].filter((model) => mayCall(compiled, model));
  const names = callable.flatMap(({ slug, aliases = [] }) => [slug, ...aliases]);
  const [nearest] = nearNames(name, names);
  const suggested = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
  return `${suggested} List the available models with GET /v1/models.`;
}
