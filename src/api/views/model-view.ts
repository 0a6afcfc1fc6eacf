import type { Model } from '../../domain/catalog.ts';
import type { Category } from '../../domain/key.ts';

/** A model of `GET /v1/models`: OpenAI's shape, with the category besides. */
export interface ModelView {
  readonly id: string;
  readonly object: 'model';
  /** Always 0, because OpenAI's clients require the field and the catalog has no dates. */
  readonly created: number;
  /** Name of the upstream in the configuration. */
  readonly owned_by: string;
  readonly category: Category;
}

export interface ModelListView {
  readonly object: 'list';
  readonly data: readonly ModelView[];
}

export function modelView(model: Model): ModelView {
  return {
    id: model.slug,
    object: 'model',
    created: 0,
    owned_by: model.upstream.name,
    category: model.category,
  };
}
