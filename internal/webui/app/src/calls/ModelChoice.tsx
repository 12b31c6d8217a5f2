import { useTranslation } from 'react-i18next';

/** One of the models that were ever called, unbound ones too; null is all of them. */
export function ModelChoice({
  models,
  model,
  onModel,
}: {
  models: readonly string[];
  model: string | null;
  onModel: (model: string | null) => void;
}) {
  const { t } = useTranslation(['calls', 'common']);
  const options = model !== null && !models.includes(model) ? [model, ...models] : models;
  return (
    <select
      className="select"
      aria-label={t('model')}
      value={model === null ? '' : `=${model}`}
      onChange={({ target }) => onModel(target.value === '' ? null : target.value.slice(1))}
    >
      <option value="">{t('allModels')}</option>
      {options.map((one) => (
        <option key={one} value={`=${one}`}>
          {one === '' ? t('common:metrics.unspecified') : one}
        </option>
      ))}
    </select>
  );
}
