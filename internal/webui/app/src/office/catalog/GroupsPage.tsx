import '../../ui/form/field.css';
import '../office.css';
import { useEffect, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { ApiError, changedMeanwhile } from '../../api/error';
import { useFormat } from '../../format/useFormat';
import { Block, Empty, TableBones } from '../../ui/page/Block';
import { Button } from '../../ui/Button';
import { composing } from '../../ui/form/composing';
import { useFaultText } from '../../ui/page/faultText';
import { Decide, Form, Input, useDraft, useTyped } from '../../ui/form/Form';
import { Icon } from '../../ui/Icon';
import { notify } from '../../ui/page/notice';
import { useTitle } from '../../ui/page/useTitle';
import { officeQueries, type Group } from '../queries';
import { useCreateGroup, useOrderGroups, useRenameGroup } from '../writes';
import { useOrdering } from './useOrdering';
import { useReorder } from './useReorder';

/** The groups of the catalog: name, order, how many capabilities. */
export function Component() {
  const { t } = useTranslation(['admin', 'common']);
  useTitle(t('groups.title'));
  const query = useQuery(officeQueries.groups());
  const [adding, setAdding] = useState(false);
  return (
    <>
      <div className="page-head">
        <h1>{t('groups.title')}</h1>
        {!adding && (
          <Button kind="primary" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {t('groups.add')}
          </Button>
        )}
      </div>
      {adding && <NewGroup onClose={() => setAdding(false)} />}
      <section className="block" aria-label={t('groups.title')}>
        <Block query={query} height={220} bones={<TableBones head={<Columns />} rows={4} columns={5} />}>
          {(groups) => (groups.length === 0 ? <Empty text={t('groups.empty')} /> : <Table groups={groups} />)}
        </Block>
      </section>
    </>
  );
}

function Columns() {
  const { t } = useTranslation(['admin', 'common']);
  return (
    <thead>
      <tr>
        <th scope="col" className="handle-cell">
          <span className="unseen">{t('groups.order')}</span>
        </th>
        <th scope="col">{t('groups.name')}</th>
        <th scope="col" className="wide">
          {t('groups.id')}
        </th>
        <th scope="col" className="right wide">
          {t('groups.order')}
        </th>
        <th scope="col" className="right">
          {t('groups.size')}
        </th>
      </tr>
    </thead>
  );
}

function Table({ groups }: { groups: Group[] }) {
  const format = useFormat();
  const { shown, store } = useOrderGroups(groups);
  const { order, question } = useOrdering(groups, store);
  const { rows, handle, body, draggedId, live } = useReorder(shown, order);
  return (
    <>
      {live}
      {question}
      <table className="table groups">
        <Columns />
        <tbody ref={body}>
          {rows.map((group) => (
            <tr key={group.id} data-dragged={group.id === draggedId}>
              <td className="handle-cell">{handle(group)}</td>
              <td>
                <Name group={group} />
              </td>
              <td className="wide">
                <code>{group.id}</code>
              </td>
              <td className="right wide">{format.count(group.sortOrder)}</td>
              <td className="right">
                <Size group={group} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Size({ group }: { group: Group }) {
  const format = useFormat();
  const { data } = useQuery(officeQueries.size(group.id));
  return <Link to={`/admin/capabilities?groupId=${encodeURIComponent(group.id)}`}>{data === undefined ? '…' : format.count(data)}</Link>;
}

/** A name that becomes a field when it is clicked; Enter keeps, Escape takes back. */
function Name({ group }: { group: Group }) {
  const { t } = useTranslation(['admin', 'common']);
  const faultText = useFaultText();
  const rename = useRenameGroup();
  const [text, setText] = useState<string | null>(null);
  const [base, setBase] = useState(group); // as it was when the field was opened
  const [fault, setFault] = useState('');
  const [theirs, setTheirs] = useState<Group | null>(null);
  const [button, focusAgain] = useFocusAgain(text === null);
  const open = () => {
    setFault('');
    setTheirs(null);
    setBase(group);
    setText(group.name);
  };
  if (text === null)
    return (
      <button ref={button} type="button" className="quiet name-button" aria-label={t('groups.rename', { name: group.name })} onClick={open}>
        {rename.isPending ? rename.variables.name : group.name}
      </button>
    );
  const store = async (name: string, { updatedAt }: Group): Promise<void> => {
    try {
      await rename.mutateAsync({ id: group.id, name, updatedAt });
      setText(null);
    } catch (error) {
      const current = changedMeanwhile<Group>(error);
      if (!current) return setFault((error instanceof ApiError && error.fields['name']) || faultText(error).title);
      if (current.name === base.name) return store(name, current); // only its place was changed
      if (current.name === name) return setText(null);
      setTheirs(current);
    }
  };
  const keep = async () => {
    const name = text.trim();
    if (rename.isPending || theirs) return; // asked below
    if (name === base.name) return setText(null);
    await store(name, base);
  };
  const leave = () => {
    focusAgain();
    setText(null);
  };
  const key = (event: KeyboardEvent) => {
    if (composing(event.nativeEvent)) return;
    if (event.key === 'Escape') leave();
    if (event.key !== 'Enter') return;
    focusAgain();
    void keep();
  };
  return (
    <div className="field">
      <input
        className="input"
        autoFocus
        aria-label={t('groups.name')}
        aria-invalid={fault !== ''}
        value={text}
        disabled={rename.isPending}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void keep()}
        onKeyDown={key}
      />
      <p className="fault-text" role="alert">
        {fault}
      </p>
      {theirs && (
        <div className="bar" data-kind="warn" role="alert">
          <span>{t('groups.renamed', { name: theirs.name })}</span>
          <span className="row">
            <button
              type="button"
              className="quiet"
              data-edge
              onClick={() => {
                setTheirs(null);
                focusAgain();
                void store(text.trim(), theirs);
              }}
            >
              {t('groups.ours')}
            </button>
            <button type="button" className="quiet" data-edge onClick={leave}>
              {t('groups.theirs')}
            </button>
          </span>
        </div>
      )}
    </div>
  );
}

/** Gives a button the focus when it is back, if that was asked for: who left by a key is still there, who clicked elsewhere is not. */
function useFocusAgain(back: boolean): [RefObject<HTMLButtonElement | null>, () => void] {
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef(false);
  useEffect(() => {
    if (!back || !asked.current) return;
    asked.current = false;
    button.current?.focus();
  }, [back]);
  return [
    button,
    () => {
      asked.current = true;
    },
  ];
}

function NewGroup({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('admin');
  const faultText = useFaultText();
  const create = useCreateGroup();
  const form = useDraft({ name: '', id: '' });
  const { name } = useTyped(form);
  const general = create.error instanceof ApiError && Object.keys(create.error.fields).length > 0 ? null : create.error;
  return (
    <Form
      form={form}
      className="block new-group"
      label={t('groups.add')}
      onSubmit={async ({ id, name }) => {
        const group = await create.mutateAsync({ name, ...(id.trim() === '' ? {} : { id: id.trim() }) });
        notify('ok', t('groups.created', { name: group.name }));
        onClose();
      }}
      onClose={onClose}
    >
      <Input<Fields>
        id="group-name"
        name="name"
        label={t('groups.name')}
        fault={general ? faultText(general).title : undefined}
        autoFocus
        maxLength={64}
      />
      <Input<Fields> name="id" label={t('groups.id')} hint={t('groups.idHint')} className="input mono" maxLength={64} />
      <Decide action={t('groups.create')} ready={name.trim() !== ''} onClose={onClose} />
    </Form>
  );
}

type Fields = Record<'name' | 'id', string>;
