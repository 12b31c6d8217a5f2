import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/error';
import { useFaultText } from '../ui/Fault';
import { RequestId } from '../ui/RequestId';
import { Choices } from './Choices';
import { check, lengthOf, MOST_CAPABILITIES, MOST_DESCRIPTION, MOST_NAME, oneLine, type Draft, type Field } from './form';

/** Stores a draft; throws ApiError, whose fields are then told in their places. */
export type Submitted = (draft: Draft) => Promise<void>;

const fields: readonly Field[] = ['name', 'description', 'capabilityIds'];
const most: Record<Field, number> = { name: MOST_NAME, description: MOST_DESCRIPTION, capabilityIds: MOST_CAPABILITIES };

/** Name, description and bindings of an application; a button elsewhere submits it by `form`. */
export function Fields({
  form,
  saved,
  start = saved,
  above,
  onBusy,
  onDraft,
  onSubmit,
}: {
  form: string;
  saved: Draft;
  /** What stands in the form at first, where that is not what is saved. */
  start?: Draft | undefined;
  /** What is said above the fields, of what is in them. */
  above?: ((draft: Draft, set: (edit: Partial<Draft>) => void) => ReactNode) | null | undefined;
  onBusy: (busy: boolean) => void;
  onDraft: (draft: Draft) => void;
  onSubmit: Submitted;
}) {
  const { t } = useTranslation(['applications', 'common']);
  const faultText = useFaultText();
  const [draft, setDraft] = useState(start);
  const [faults, setFaults] = useState<Partial<Record<Field, string>>>({});
  const [unsaved, setUnsaved] = useState<unknown>(null); // a fault of no field
  const id = useId();

  const set = (edit: Partial<Draft>) => {
    const next = { ...draft, ...edit };
    setDraft(next);
    onDraft(next);
    setFaults(Object.fromEntries(fields.filter((field) => !(field in edit)).map((field) => [field, faults[field] ?? ''])));
  };
  const refuse = (told: typeof faults) => {
    setFaults(told);
    const first = fields.find((field) => told[field]);
    if (first) document.getElementById(`${id}-${first}`)?.focus();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const wrong = check(draft);
    const told = Object.fromEntries(
      fields.flatMap((field) => (wrong[field] ? [[field, t(`form.${wrong[field]}`, { n: most[field].toLocaleString('en-US') })]] : [])),
    );
    if (Object.keys(told).length > 0) return refuse(told);
    setFaults({});
    setUnsaved(null);
    onBusy(true);
    try {
      await onSubmit(draft);
    } catch (error) {
      const byField =
        error instanceof ApiError
          ? Object.fromEntries(fields.flatMap((field) => (error.fields[field] ? [[field, error.fields[field]]] : [])))
          : {};
      setUnsaved(Object.keys(byField).length > 0 ? null : error);
      refuse(byField);
    }
    onBusy(false);
  };
  const described = (field: Field) => ({
    id: `${id}-${field}`,
    'aria-invalid': Boolean(faults[field]),
    'aria-describedby': `${id}-${field}-fault`,
  });
  return (
    <form id={form} className="stack" noValidate onSubmit={(event) => void submit(event)}>
      {above?.(draft, set)}
      <div className="form-field">
        <label htmlFor={`${id}-name`}>
          {t('name')}
          <span className="meta number">{`${lengthOf(draft.name.trim())} / ${MOST_NAME}`}</span>
        </label>
        <input
          className="input"
          {...described('name')}
          autoFocus={!above}
          autoComplete="off"
          value={draft.name}
          onChange={(event) => set({ name: event.target.value })}
        />
        <p id={`${id}-name-fault`} className="fault-line" role="alert">
          {faults.name}
        </p>
      </div>
      <div className="form-field">
        <label htmlFor={`${id}-description`}>
          {t('form.description')}
          <span className="meta">{t('form.descriptionHint')}</span>
          <span className="meta number">{`${lengthOf(draft.description)} / ${MOST_DESCRIPTION.toLocaleString('en-US')}`}</span>
        </label>
        <textarea
          className="area"
          {...described('description')}
          rows={3}
          value={draft.description}
          onChange={(event) => set({ description: oneLine(event.target.value) })}
        />
        <p id={`${id}-description-fault`} className="fault-line" role="alert">
          {faults.description}
        </p>
      </div>
      <Choices
        saved={saved.capabilityIds}
        chosen={draft.capabilityIds}
        onChange={(capabilityIds) => set({ capabilityIds })}
        fault={faults.capabilityIds ?? ''}
      />
      {unsaved !== null && (
        <div className="bar" data-kind="failed" role="alert">
          {faultText(unsaved).title} <RequestId error={unsaved} />
        </div>
      )}
    </form>
  );
}
