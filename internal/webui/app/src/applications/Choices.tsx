import { useId, useMemo, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../api/client';
import { capabilityQueries } from '../capabilities/queries';
import { sections } from '../capabilities/search';
import { Block, Bones } from '../ui/page/Block';
import { StatusTag } from '../ui/Tag';
import { useCapabilities } from './useCapabilities';

/** The bindings of an application: capabilities by group, with search. */
export function Choices({
  saved,
  chosen,
  onChange,
  fault,
}: {
  /** What is bound now: a disabled capability among them can be removed, not chosen anew. */
  saved: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  fault: string;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const query = useCapabilities(saved);
  const [search, setSearch] = useState('');
  const [onlyChosen, setOnlyChosen] = useState(false);
  const [first] = useState(chosen); // they stay where they are while some are given up
  const id = useId();
  return (
    <div role="group" aria-labelledby={id} aria-describedby={`${id}-fault`}>
      <div className="form-label">
        <span id={id}>{t('form.capabilities')}</span>
        <span className="meta number">{query.data && t('form.some', { n: String(chosen.length), all: String(query.data.length) })}</span>
      </div>
      <div className="filters">
        <input
          className="input search"
          type="search"
          aria-label={t('form.search')}
          placeholder={t('form.search')}
          autoComplete="off"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
        <button type="button" className="quiet" data-edge aria-pressed={onlyChosen} onClick={() => setOnlyChosen(!onlyChosen)}>
          {t('form.onlyChosen')}
        </button>
      </div>
      <div className="choices">
        <Block query={query} height={160}>
          {(capabilities) => (
            <Listed
              capabilities={onlyChosen ? capabilities.filter(({ id }) => chosen.includes(id)) : capabilities}
              search={search}
              first={first}
              chosen={chosen}
              onChange={onChange}
            />
          )}
        </Block>
      </div>
      <p id={`${id}-fault`} className="fault-line" role="alert">
        {fault}
      </p>
    </div>
  );
}

const BOUND = ' bound'; // no group is called so

function Listed({
  capabilities,
  search,
  first,
  chosen,
  onChange,
}: {
  capabilities: readonly Schemas['CapabilityFields'][];
  search: string;
  first: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const { data: groups, isPending } = useQuery(capabilityQueries.groups());
  const found = useMemo(() => {
    const all = sections(capabilities, groups ?? [], search);
    const bound = { id: BOUND, name: t('form.bound'), items: all.flatMap(({ items }) => items).filter(({ id }) => first.includes(id)) };
    const rest = all.map((section) => ({ ...section, items: section.items.filter(({ id }) => !first.includes(id)) }));
    return [bound, ...rest].filter(({ items }) => items.length > 0);
  }, [capabilities, groups, search, first, t]);
  if (isPending) return <Bones height={160} />; // not first by identifier, then by name
  if (capabilities.length === 0) return <p className="second">{t('form.none')}</p>;
  if (found.length === 0) return <p className="second">{t('form.noMatch')}</p>;
  const toggle = (id: string, on: boolean) => onChange(on ? [...chosen, id] : chosen.filter((other) => other !== id));
  return found.map((section) => (
    <fieldset key={section.id}>
      <legend>{section.name}</legend>
      {section.items.map(({ id, name, description, status }) => {
        const bound = chosen.includes(id);
        return (
          <label key={id} className="choice-line">
            <input
              type="checkbox"
              checked={bound}
              disabled={status === 'disabled' && !bound}
              onChange={(event) => toggle(id, event.target.checked)}
            />
            <span>
              {name} <span className="meta mono">{id}</span>
              {status === 'disabled' ? (
                <>
                  <br />
                  <StatusTag status="disabled" /> <span className="meta">{t('form.disabled')}</span>
                </>
              ) : (
                description !== '' && (
                  <>
                    <br />
                    <span className="meta">{description}</span>
                  </>
                )
              )}
            </span>
          </label>
        );
      })}
    </fieldset>
  ));
}
