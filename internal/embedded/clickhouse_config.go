package embedded

import "text/template"

// clickHouseConfig is the server's configuration. Pools are those of a two-core machine; no
// system log table is configured, so an idle engine writes nothing.
var clickHouseConfig = template.Must(template.New("config.xml").Parse(`<clickhouse>
  <path>{{.Dir}}/data/</path>
  <listen_host>127.0.0.1</listen_host>
  <tcp_port>{{.TCP}}</tcp_port>
  <http_port>{{.HTTP}}</http_port>
  <users_config>{{.Dir}}/users.xml</users_config>
  <logger>
    <log>{{.Dir}}/server.log</log>
    <size>10M</size>
    <count>2</count>
  </logger>
  <max_server_memory_usage>3221225472</max_server_memory_usage>
  <mark_cache_size>134217728</mark_cache_size>
  <index_mark_cache_size>33554432</index_mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <background_pool_size>4</background_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_fetches_pool_size>{{if .Replica}}4{{else}}1{{end}}</background_fetches_pool_size>
  <background_move_pool_size>1</background_move_pool_size>
  <background_schedule_pool_size>{{if .Replica}}16{{else}}4{{end}}</background_schedule_pool_size>
  <asynchronous_metrics_update_period_s>60</asynchronous_metrics_update_period_s>
  <database_atomic_delay_before_drop_table_sec>5</database_atomic_delay_before_drop_table_sec>
  <merge_tree>
    <number_of_free_entries_in_pool_to_execute_mutation>2</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>2</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>2</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
  {{- if .Shards}}
  <remote_servers>
    <{{.Cluster}}>
      {{- range .Shards}}
      <shard>
        <internal_replication>true</internal_replication>
        {{- range .}}
        <replica><host>127.0.0.1</host><port>{{.}}</port><user>{{$.Account}}</user><password>{{$.Password}}</password></replica>
        {{- end}}
      </shard>
      {{- end}}
    </{{.Cluster}}>
  </remote_servers>
  {{- end}}
  {{- .Replica}}
</clickhouse>
`))

// clickHouseUsers: the engine runs its start-up statements as "default", without a password, and
// that session lasts as long as the engine. A limit of one session per user therefore shuts
// "default" to everybody else, before the first port is opened. The engine keeps no accounts of its
// own, so the data team's, which a server gets from clickhouse.Reader, stands here.
var clickHouseUsers = template.Must(template.New("users.xml").Parse(`<clickhouse>
  <profiles>
    <default>
      <async_insert>0</async_insert>
      <insert_deduplicate>1</insert_deduplicate>
      <distributed_foreground_insert>1</distributed_foreground_insert>
    </default>
    <keeper><max_sessions_for_user>1</max_sessions_for_user></keeper>
    <{{.Reader}}>
      <readonly>2</readonly>
      {{- range .ReaderLimits}}
      <{{.Name}}>{{.Value}}</{{.Name}}>
      {{- end}}
      {{- range .ReaderDefaults}}
      <{{.Name}}>{{.Value}}</{{.Name}}>
      {{- end}}
      <constraints>
        {{- range .ReaderLimits}}
        <{{.Name}}><min>1</min><max>{{.Max}}</max></{{.Name}}>
        {{- end}}
      </constraints>
    </{{.Reader}}>
  </profiles>
  <quotas>
    <default/>
    <{{.Reader}}>
      <interval>
        <duration>3600</duration>
        {{- range .ReaderQuota}}
        <{{.Name}}>{{.Value}}</{{.Name}}>
        {{- end}}
      </interval>
    </{{.Reader}}>
  </quotas>
  <users>
    <default>
      <no_password/>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>keeper</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT CREATE TEMPORARY TABLE ON *.*</query>
        <query>GRANT READ ON FILE</query>
      </grants>
    </default>
    <{{.Account}}>
      <password_sha256_hex>{{.PasswordHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <access_management>1</access_management>
    </{{.Account}}>
    <{{.Reader}}>
      <password_sha256_hex>{{.ReaderHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>{{.Reader}}</profile>
      <quota>{{.Reader}}</quota>
      <grants><query>GRANT {{.ReaderRole}}</query></grants>
    </{{.Reader}}>
  </users>
  <roles>
    <{{.ReaderRole}}>
      <grants>
        {{- range .ReaderGrants}}
        <query>{{.}}</query>
        {{- end}}
      </grants>
    </{{.ReaderRole}}>
  </roles>
</clickhouse>
`))
