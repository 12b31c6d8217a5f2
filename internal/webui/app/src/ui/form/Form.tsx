import './field.css';
import { useEffect, useId, useRef, type ComponentProps, type ElementType, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import {
  FormProvider,
  useController,
  useForm,
  useFormState,
  useWatch,
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  type UseFormProps,
  type UseFormReturn,
} from 'react-hook-form';
import { ApiError, changedMeanwhile } from '../../api/error';
import { Button } from '../Button';
import { composing } from './composing';
import { Fault } from '../page/Fault';
import { Icon } from '../Icon';

/** What is typed into a form. What is wrong with a field is said until it is submitted again. */
export const useDraft = <T extends FieldValues>(defaultValues: DefaultValues<T>, more: UseFormProps<T> = {}): UseFormReturn<T> =>
  useForm<T>({ defaultValues, reValidateMode: 'onSubmit', shouldFocusError: false, ...more });

/** All that is typed, as it stands. */
export const useTyped = <T extends FieldValues>({ control }: UseFormReturn<T>): T =>
  useWatch({ control, compute: (typed: T) => ({ ...typed }) });

type Native = Omit<ComponentProps<'form'>, 'form' | 'onSubmit'>;

/**
 * A form whose fields say what onSubmit was refused for: ApiError's `fields`, whose names `at` maps to
 * the form's where they differ. The first of them gets the focus. Other errors are the caller's to show.
 */
export function Form<T extends FieldValues>({
  form,
  label,
  at = {},
  onSubmit,
  onClose,
  children,
  ...rest
}: Native & {
  form: UseFormReturn<T>;
  label?: string;
  at?: Readonly<Record<string, FieldPath<T>>>;
  onSubmit: (typed: T) => Promise<unknown>;
  onClose?: () => void;
}) {
  const element = useRef<HTMLFormElement>(null);
  const { clearErrors, setError, formState } = form;
  const { isSubmitting, submitCount } = formState;
  useEffect(() => {
    if (submitCount > 0) element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [submitCount]);
  const submit = form.handleSubmit((typed) =>
    onSubmit(typed).catch((error: unknown) => {
      const fields = error instanceof ApiError ? error.fields : {};
      for (const [name, message] of Object.entries(fields)) setError(at[name] ?? (name as FieldPath<T>), { message });
    }),
  );
  return (
    <FormProvider {...form}>
      <form
        ref={element}
        noValidate
        aria-label={label}
        onSubmit={(event) => {
          event.preventDefault();
          if (isSubmitting) return;
          clearErrors();
          void submit();
        }}
        onKeyDown={(event) => event.key === 'Escape' && !composing(event.nativeEvent) && onClose?.()}
        {...rest}
      >
        {children}
      </form>
    </FormProvider>
  );
}

/** A field's own attributes, and what is wrong with it: `fault` before what was told of it. */
export function useField<T extends FieldValues>(
  name: FieldPath<T>,
  {
    id: given,
    fault,
    validate,
  }: { id?: string | undefined; fault?: string | undefined; validate?: ((text: string) => string | undefined) | undefined } = {},
) {
  const own = useId();
  const id = given ?? own;
  const { field, fieldState } = useController<T>({ name, ...(validate && { rules: { validate: (text: string) => validate(text) } }) });
  const { value, ref, onChange, onBlur } = field;
  const wrong = fault ?? fieldState.error?.message;
  return {
    field: { id, value: value as string, ref, onChange, onBlur, 'aria-invalid': wrong !== undefined, 'aria-describedby': `${id}-hint` },
    wrong,
  };
}

interface Labelled<T extends FieldValues> {
  name: FieldPath<T>;
  label: string;
  id?: string;
  hint?: string;
  fault?: string | undefined;
  validate?: (text: string) => string | undefined;
  /** As wide as the form. */
  whole?: boolean;
}

type Attributes<E extends 'input' | 'textarea' | 'select'> = Omit<ComponentProps<E>, 'name' | 'id'>;

/** An element of a form with its label above, and its hint or what is wrong with it below. */
function Field<T extends FieldValues>({
  as: Element,
  name,
  id,
  label,
  hint,
  fault,
  validate,
  whole = false,
  ...attributes
}: Labelled<T> & { as: ElementType }) {
  const { field, wrong } = useField(name, { id, fault, validate });
  return (
    <div className={whole ? 'field whole' : 'field'}>
      <label htmlFor={field.id}>{label}</label>
      <Element {...field} {...attributes} />
      <p id={field['aria-describedby']} className="meta">
        {wrong ? (
          <span className="fault-text" role="alert">
            {wrong}
          </span>
        ) : (
          hint
        )}
      </p>
    </div>
  );
}

/** A line of text. */
export const Input = <T extends FieldValues>(props: Labelled<T> & Attributes<'input'>) => (
  <Field as="input" className="input" autoComplete="off" {...props} />
);

/** Lines of text. */
export const Area = <T extends FieldValues>(props: Labelled<T> & Attributes<'textarea'>) => (
  <Field as="textarea" className="area" {...props} />
);

/** A choice; its options are its children. */
export const Select = <T extends FieldValues>(props: Labelled<T> & Attributes<'select'>) => (
  <Field as="select" className="select" {...props} />
);

/** Something to look at before it is stored. */
export const Notice = ({ role, children }: { role: 'alert' | 'status'; children: ReactNode }) => (
  <div className="bar" data-kind="warn" role={role}>
    <Icon name="warn" />
    {children}
  </div>
);

/** Why nothing was stored, where that is of no field: `changed` where somebody else was faster. */
export function Refused({ error, changed }: { error: unknown; changed: string | false }) {
  if (changed !== false) return <Notice role="alert">{changed}</Notice>;
  if (!error || changedMeanwhile(error) !== undefined) return null;
  return error instanceof ApiError && Object.keys(error.fields).length > 0 ? null : <Fault error={error} />;
}

/** A form's last row: store it, or leave it. */
export function Decide({ action, ready = true, onClose }: { action: string; ready?: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const { isSubmitting } = useFormState();
  return (
    <div className="row">
      <Button kind="primary" type="submit" loading={isSubmitting} disabled={!ready}>
        {action}
      </Button>
      <Button onClick={onClose}>{t('action.cancel')}</Button>
    </div>
  );
}
