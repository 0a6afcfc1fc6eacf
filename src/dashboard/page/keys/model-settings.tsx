import { CATEGORIES } from '../../../domain/key.ts';
import { readModels } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { knowsModels } from '../session/session.ts';
import { CheckList } from '../ui/check-list.tsx';
import { FailureNote, Note } from '../ui/note.tsx';
import { SearchList } from '../ui/search-list.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { SettingGroup } from './setting-group.tsx';

export function ModelSettings({ draft, errors, change }: KeyFormPart) {
  const catalog = useLoad(readModels);
  const known = catalog.data ?? [];
  // A model that the key lists is shown even if the catalog lacks it, or hides it from the session's key.
  const others = draft.models.filter((slug) => !known.some((model) => model.id === slug));
  return (
    <SettingGroup title="Models" words="The models that the key can call.">
      <CheckList
        name="allowed_categories"
        legend="Modalities"
        hint="None chosen: all."
        choices={CATEGORIES.map((category) => ({
          value: category,
          name: CATEGORY_NAMES[category] ?? category,
        }))}
        chosen={draft.categories}
        onChosen={(chosen) =>
          change({ categories: CATEGORIES.filter((category) => chosen.includes(category)) })
        }
        error={errors.allowed_categories}
      />
      <FailureNote error={catalog.error} retry={catalog.reload} />
      <SearchList
        name="allowed_models"
        legend="Models"
        none="All models"
        hint={
          catalog.isLoading
            ? 'Loading models…'
            : 'None chosen: all models, including future ones. The modality of a model must be allowed, too.'
        }
        choices={[
          ...known.map((model) => ({
            value: model.id,
            name: model.id,
            note: model.category,
            group: model.owned_by,
          })),
          ...others.map((slug) => ({
            value: slug,
            name: slug,
            note: catalog.isLoading || !knowsModels() ? '' : 'not in the catalog',
          })),
        ]}
        chosen={draft.models}
        onChosen={(models) => change({ models })}
        error={errors.allowed_models}
      />
      {catalog.data && knowsModels() && others.length > 0 && (
        <Note kind="warning">
          <p>
            The catalog does not have {others.map((slug) => `“${slug}”`).join(', ')}. Calls with an unknown
            model are refused: check the spelling, or deselect it.
            {others.length === draft.models.length &&
              ' With these settings, the key may be unable to call any model.'}
          </p>
        </Note>
      )}
    </SettingGroup>
  );
}
