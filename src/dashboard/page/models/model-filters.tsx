import type { ModelView } from '../../../api/models/model-view.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { choose, query } from '../route.ts';
import { Choice } from '../ui/filters.tsx';

/** The search and the modality that the address names. */
export function ModelFilters({ categories }: { categories: readonly string[] }) {
  return (
    <>
      <label>
        <span>Search</span>
        <input
          type="search"
          autoComplete="off"
          spellCheck="false"
          placeholder="Name"
          value={query.value.get('search') ?? ''}
          onInput={(event) => choose({ search: event.currentTarget.value }, 'replace')}
        />
      </label>
      <Choice
        label="Modality"
        none="All"
        value={query.value.get('category') ?? ''}
        choices={categories.map((category) => [category, CATEGORY_NAMES[category] ?? category])}
        onValue={(category) => choose({ category })}
      />
    </>
  );
}

/** Those that the search and the modality of the address leave. */
export function filteredModels<Model extends ModelView>(models: readonly Model[]): readonly Model[] {
  const search = (query.value.get('search') ?? '').trim().toLowerCase();
  const category = query.value.get('category') ?? '';
  return models.filter(
    (model) =>
      (category === '' || model.category === category) &&
      [model.id, ...model.aliases].some((name) => name.toLowerCase().includes(search)),
  );
}

/** The modalities of models, each once. */
export function categoriesOf(models: readonly ModelView[]): readonly string[] {
  return [...new Set(models.map(({ category }) => category))];
}
