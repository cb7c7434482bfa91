-- A small data base of sales: bulk inserts, indexes, joins, windows, updates,
-- scans with LIKE. The table scale, made before, says how many customers.
pragma cache_size = 50;
create table customer(id integer primary key, name text, city text);
create table sale(id integer primary key, customer integer, item text, amount real, day integer);

insert into customer
  with recursive c(i) as (select 1 union all select i + 1 from c where i < (select n from scale))
  select i, printf('customer %05d', i * 7919 % 100003), 'city ' || (i % 17) from c;

insert into sale
  with recursive s(i, seed) as (
    select 1, 42 union all select i + 1, (seed * 1103515245 + 12345) % 2147483648 from s
    where i < 10 * (select n from scale))
  select i, 1 + seed / 7 % (select n from scale), 'item ' || (seed / 64 % 97), seed % 10000 / 100.0, i % 365 from s;

create index sale_customer on sale(customer);
create index sale_item on sale(item, day);
analyze;

select city, count(*), round(sum(amount), 2) from customer c join sale s on s.customer = c.id
  group by city order by 3 desc limit 5;
select name, total from (
  select c.name, round(sum(s.amount), 2) as total, rank() over (order by sum(s.amount) desc, c.id) as place
  from customer c join sale s on s.customer = c.id group by c.id)
  where place <= 5;
update sale set amount = amount * 1.25 where item in (select item from sale where day < 30 group by item having count(*) > 2);
select count(*), round(total(amount), 2) from sale where item like '%7' and day between 50 and 300;
select item, day, amount, sum(amount) over (partition by item order by day rows 3 preceding) as recent
  from sale order by recent desc, sale.id limit 5;
delete from sale where id % 3 = 0;
select json_group_array(json_object('item', item, 'n', n))
  from (select item, count(*) n from sale group by item order by n desc, item limit 4);
pragma integrity_check;
