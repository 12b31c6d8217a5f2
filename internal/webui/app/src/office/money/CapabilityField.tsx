import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Input } from '../../ui/form/Form';
import { officeQueries } from '../queries';

const Line = Input<{ capabilityId: string }>;

/** A capability's identifier, of those that contain what is typed. */
export function CapabilityField({ id, locked = false }: { id: string; locked?: boolean }) {
  const { t } = useTranslation('admin');
  const { data } = useQuery(officeQueries.capabilities({ page: 1, groupId: '', status: '', q: id }));
  return (
    <>
      <Line
        className="input mono"
        spellCheck={false}
        name="capabilityId"
        label={t('prices.capability')}
        hint={data?.items.find((one) => one.id === id)?.name ?? '\u00a0'} // its line is there before the name is: a click on Save must not miss
        readOnly={locked}
        autoFocus={!locked}
        list="price-capabilities"
      />
      <datalist id="price-capabilities">
        {data?.items.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </datalist>
    </>
  );
}
