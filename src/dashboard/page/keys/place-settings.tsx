import { rowAt, type TypedField } from '../../../domain/key-settings.ts';
import { COUNTRIES, countryName } from '../format/countries.ts';
import { ChipInput, type ChipInputProps } from '../ui/chip-input.tsx';
import { type KeyFormPart, TYPED_FIELDS } from './key-draft.ts';
import { ITEM_KINDS } from './read-draft.ts';
import { SettingGroup } from './setting-group.tsx';

/** Props of lists whose items read otherwise than the API has them. */
const OWN_PROPS: Readonly<Partial<Record<TypedField, Partial<ChipInputProps>>>> = {
  blocked_countries: {
    show: (code) => `${countryName(code)} (${code})`,
    suggestions: COUNTRIES.map(({ name }) => name),
  },
};

/** Fields for the addresses, countries and origins that calls may come from. */
export function PlaceSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <SettingGroup title="Network" words="Where calls with the key can come from.">
      {TYPED_FIELDS.map((name) => {
        const { label, typed } = rowAt(name);
        return (
          <ChipInput
            key={name}
            name={name}
            label={label}
            hint={typed?.hint ?? ''}
            placeholder={typed?.placeholder ?? ''}
            list={draft.lists[name]}
            onList={(list) => change({ lists: { ...draft.lists, [name]: list } })}
            kind={ITEM_KINDS[name]}
            error={errors[name]}
            {...OWN_PROPS[name]}
          />
        );
      })}
    </SettingGroup>
  );
}
