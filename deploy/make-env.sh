#!/bin/sh
# Writes .env for docker compose once, with fresh secrets, and switches on the profiles that are named:
# deploy/make-env.sh [demo] [observability] [cluster]. It never overwrites one: data sealed under the old
# secrets could not be read again.
set -eu
cd "$(dirname "$0")/.."
if [ -e .env ]; then
  echo ".env exists already; it is kept" >&2
  exit 1
fi
profiles= demo= cluster=
for profile; do
  case $profile in
  demo) demo=yes ;;
  cluster) cluster=yes ;;
  observability) ;;
  *)
    echo "unknown profile $profile; there are demo, observability and cluster" >&2
    exit 1
    ;;
  esac
  profiles=$profiles${profiles:+,}$profile
done
random() { openssl rand -hex 32; }
clickhouse=$(random)
umask 077
{
  cat <<EOF
POSTGRES_PASSWORD=$(random)
CLICKHOUSE_PASSWORD=$clickhouse
CLICKHOUSE_READER_PASSWORD=$(random)
GRAFANA_PASSWORD=$(random)
JWT_SECRET=$(random)
ACCESS_KEY_PEPPER=$(random)
ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)
PUBLIC_BASE_URL=http://localhost:8080
EOF
  [ -z "$profiles" ] || echo "COMPOSE_PROFILES=$profiles"
  [ -z "$cluster" ] || cat <<EOF
CLICKHOUSE_CLUSTER=callgate
CLICKHOUSE_URL=clickhouse://callgate:$clickhouse@clickhouse-1a:9000,clickhouse-1b:9000,clickhouse-2a:9000,clickhouse-2b:9000/callgate
CLICKHOUSE_READER_HOST=clickhouse-1a
EOF
  if [ -n "$demo" ]; then
    cat <<EOF
ADMIN_EMAILS=admin@example.com
SMTP_URL=smtp://mail:1025
MAIL_FROM=callgate@example.com
UPSTREAM_ALLOW_PRIVATE=true
EOF
  else
    cat <<EOF
# Fill these in: who may enter the back office, and how mail is sent.
ADMIN_EMAILS=
SMTP_URL=
MAIL_FROM=
EOF
  fi
} > .env
if [ -n "$demo" ]; then
  echo "wrote .env; now: docker compose up --build, sign in at http://localhost:8080/admin as admin@example.com, codes are at http://localhost:8025"
else
  echo "wrote .env; fill in ADMIN_EMAILS, SMTP_URL and MAIL_FROM, then: docker compose up --build"
fi
