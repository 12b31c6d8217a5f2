import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '../../api/client';
import { changedMeanwhile } from '../../api/error';
import { Decide, Form, Input, Refused, Select, useDraft, useTyped } from '../../ui/form/Form';
import { notify } from '../../ui/page/notice';
import { type NamedUpstream } from '../queries';
import { useSaveUpstream } from '../writes';
import { sameOrigin } from './settings';

type Typed = Record<'id' | 'name' | 'baseUrl' | 'auth' | 'key' | 'checkPath' | 'checkModel', string>;

const fresh: Typed = { id: '', name: '', baseUrl: '', auth: 'bearer', key: '', checkPath: '/v1/models', checkModel: '' };
const stored = ({ id, name, baseUrl, auth, checkPath, checkModel }: NamedUpstream): Typed => ({
  id,
  name,
  baseUrl,
  auth,
  key: '',
  checkPath,
  checkModel,
});
const auths = ['bearer', 'x-api-key', 'api-key', 'x-goog-api-key'] as const;

const Line = Input<Typed>;
const code = { className: 'input mono', spellCheck: false };

/** Creates an upstream, or edits `upstream`. The server tries the key before it saves it. */
export function UpstreamForm({ upstream, onClose }: { upstream: NamedUpstream | null; onClose: () => void }) {
  const { t } = useTranslation('admin');
  const save = useSaveUpstream(upstream?.id ?? null);
  const [read, setRead] = useState(upstream); // as it was when it was read last
  const before = read ? stored(read) : fresh;
  const form = useDraft<Typed>(before);
  const typed = useTyped(form);
  const [skip, setSkip] = useState(false);
  const again = read !== null && typed.key === '' && !sameOrigin(read.baseUrl, typed.baseUrl);
  const changed = Object.fromEntries(
    (Object.keys(before) as (keyof Typed)[]).filter((name) => typed[name] !== before[name]).map((name) => [name, typed[name]]),
  );
  const submit = () => {
    const body = (read ? changed : { ...typed, ...(typed.id.trim() === '' ? { id: undefined } : {}) }) as Schemas['UpstreamEdit'];
    return save.mutateAsync(
      { body: { ...body, ...(skip ? { skipCheck: true } : {}) }, updatedAt: read?.updatedAt ?? '' },
      {
        onSuccess: () => {
          notify('ok', t('upstreams.saved', { name: typed.name }));
          onClose();
        },
        onError: (error) => setRead((last) => changedMeanwhile<NamedUpstream>(error) ?? last),
      },
    );
  };
  const ready = typed.name.trim() !== '' && typed.baseUrl.trim() !== '' && (read ? Object.keys(changed).length > 0 : typed.key !== '');
  return (
    <Form
      form={form}
      className="block stack price-form"
      label={upstream ? t('upstreams.editOf', { name: upstream.name }) : t('upstreams.add')}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="upstream-grid">
        <Line name="name" label={t('editor.name')} spellCheck={false} autoFocus />
        <Line
          {...code}
          name="id"
          label={t('editor.id')}
          hint={read ? t('editor.idLocked') : t('upstreams.idHint')}
          readOnly={read !== null}
        />
        <Line {...code} name="baseUrl" label={t('editor.baseUrl')} hint={t('editor.baseUrlHint')} />
        <Select<Typed> name="auth" label={t('editor.auth')}>
          {auths.map((one) => (
            <option key={one} value={one}>
              {t(`editor.auths.${one}`)}
            </option>
          ))}
        </Select>
        <Line
          {...code}
          name="key"
          label={t('editor.key')}
          hint={t('upstreams.keyHint')}
          type="password"
          autoComplete="new-password"
          placeholder={read && !again ? t('editor.keySaved') : ''}
          fault={again ? t('editor.keyAgain') : undefined}
        />
        <Line {...code} name="checkPath" label={t('upstreams.checkPath')} hint={t('upstreams.checkPathHint')} />
        <Line {...code} name="checkModel" label={t('upstreams.checkModel')} hint={t('upstreams.checkModelHint')} />
      </div>
      {(form.formState.errors.key !== undefined || skip) && (
        <label className="row">
          <input type="checkbox" checked={skip} onChange={(event) => setSkip(event.target.checked)} />
          {t('upstreams.skip')}
        </label>
      )}
      <Refused error={save.error} changed={changedMeanwhile(save.error) !== undefined && t('upstreams.changed')} />
      <Decide action={save.isPending ? t('upstreams.trying') : t('upstreams.save')} ready={ready} onClose={onClose} />
    </Form>
  );
}
