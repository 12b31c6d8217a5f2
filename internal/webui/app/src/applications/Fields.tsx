import { useEffect, useLayoutEffect, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useController, type ResolverResult } from 'react-hook-form';
import { ApiError } from '../api/error';
import { useFaultText } from '../ui/page/faultText';
import { Form, useDraft, useField, useTyped } from '../ui/form/Form';
import { RequestId } from '../ui/page/RequestId';
import { Choices } from './Choices';
import { check, isDirty, lengthOf, MOST_CAPABILITIES, MOST_DESCRIPTION, MOST_NAME, oneLine, type Draft, type Field } from './form';

/** Stores a draft; throws ApiError, whose fields are then told in their places. */
export type Submitted = (draft: Draft) => Promise<void>;

const most: Record<Field, number> = { name: MOST_NAME, description: MOST_DESCRIPTION, capabilityIds: MOST_CAPABILITIES };

/** Name, description and bindings of an application; a button elsewhere submits it by its `id`. */
export function Fields({
  id,
  saved,
  start = saved,
  above,
  onBusy,
  onDirty,
  onSubmit,
}: {
  id: string;
  saved: Draft;
  /** What stands in the form at first, where that is not what is saved. */
  start?: Draft | undefined;
  /** What is said above the fields, of what is in them. */
  above?: ((draft: Draft, set: (field: Field, value: Draft[Field]) => void) => ReactNode) | null | undefined;
  onBusy: (busy: boolean) => void;
  onDirty: (dirty: boolean) => void;
  onSubmit: Submitted;
}) {
  const { t } = useTranslation('applications');
  const faultText = useFaultText();
  const resolver = (draft: Draft): ResolverResult<Draft> => {
    const errors = Object.fromEntries(
      Object.entries(check(draft)).map(([field, fault]) => [
        field,
        { type: fault, message: t(`form.${fault}`, { n: most[field as Field].toLocaleString('en-US') }) },
      ]),
    );
    return Object.keys(errors).length > 0 ? { values: {}, errors } : { values: draft, errors: {} };
  };
  const form = useDraft<Draft>(start, { resolver });
  const draft = useTyped(form);
  const { isSubmitting } = form.formState;
  const save = useMutation({ mutationFn: onSubmit });
  const dirty = isDirty(saved, draft);
  useLayoutEffect(() => onDirty(dirty), [dirty, onDirty]); // at once: Escape may come before other effects run
  useEffect(() => onBusy(isSubmitting), [isSubmitting, onBusy]);
  // What is edited is not wrong any more, until it is submitted again.
  useEffect(
    () => form.subscribe({ formState: { values: true }, callback: ({ name }) => form.clearErrors(name as Field | undefined) }),
    [form],
  );
  const told = save.error instanceof ApiError && Object.keys(save.error.fields).some((field) => field in most);
  return (
    <Form form={form} id={id} className="stack" onSubmit={save.mutateAsync}>
      {above?.(draft, (field, value) => form.setValue(field, value))}
      <Name autoFocus={!above} />
      <Description />
      <Bindings saved={saved.capabilityIds} />
      {save.error !== null && !told && (
        <div className="bar" data-kind="failed" role="alert">
          {faultText(save.error).title} <RequestId error={save.error} />
        </div>
      )}
    </Form>
  );
}

function Name({ autoFocus }: { autoFocus: boolean }) {
  const { t } = useTranslation('applications');
  const { field, wrong } = useField<Draft>('name');
  return (
    <div className="form-field">
      <label htmlFor={field.id}>
        {t('name')}
        <span className="meta number">{`${lengthOf(field.value.trim())} / ${MOST_NAME}`}</span>
      </label>
      <input
        className="input"
        {...field}
        autoFocus={autoFocus}
        autoComplete="off"
        onChange={(event) => field.onChange(event.target.value)}
      />
      <p id={field['aria-describedby']} className="fault-line" role="alert">
        {wrong}
      </p>
    </div>
  );
}

function Description() {
  const { t } = useTranslation('applications');
  const { field, wrong } = useField<Draft>('description');
  return (
    <div className="form-field">
      <label htmlFor={field.id}>
        {t('form.description')}
        <span className="meta">{t('form.descriptionHint')}</span>
        <span className="meta number">{`${lengthOf(field.value)} / ${MOST_DESCRIPTION.toLocaleString('en-US')}`}</span>
      </label>
      <textarea className="area" {...field} rows={3} onChange={(event) => field.onChange(oneLine(event.target.value))} />
      <p id={field['aria-describedby']} className="fault-line" role="alert">
        {wrong}
      </p>
    </div>
  );
}

function Bindings({ saved }: { saved: readonly string[] }) {
  const { field, fieldState } = useController<Draft, 'capabilityIds'>({ name: 'capabilityIds' });
  return <Choices saved={saved} chosen={field.value} onChange={field.onChange} fault={fieldState.error?.message ?? ''} />;
}
